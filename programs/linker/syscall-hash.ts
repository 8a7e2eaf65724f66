/**
 * The number by which an SBPF v3 program calls a syscall, u32: MurmurHash3 x86_32 of its name with seed 0
 * (solana-sbpf `ebpf.rs`, hash_symbol_name; SIMD-0178).
 */
export const syscallHash = (name: string): number => Bun.hash.murmur32v3(name, 0);
