const rotated = (word: number, bits: number): number => (word << bits) | (word >>> (32 - bits));

/** One block of MurmurHash3 x86_32 with its constants (Austin Appleby's reference, public domain). */
const mixed = (block: number): number =>
  Math.imul(rotated(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);

/**
 * The number by which an SBPF v3 program calls a syscall, u32: MurmurHash3 x86_32 of its name with seed 0
 * (solana-sbpf `ebpf.rs`, hash_symbol_name; SIMD-0178).
 */
export const syscallHash = (name: string): number => {
  const bytes = new TextEncoder().encode(name);
  const view = new DataView(bytes.buffer);
  const whole = bytes.length & ~3;
  let hash = 0;
  for (let at = 0; at < whole; at += 4) {
    hash = rotated(hash ^ mixed(view.getUint32(at, true)), 13);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let tail = 0;
  for (let at = bytes.length - 1; at >= whole; at -= 1) tail = (tail << 8) | view.getUint8(at);
  hash ^= mixed(tail) ^ bytes.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};
