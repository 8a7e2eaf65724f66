import type { Address } from "./address.ts";

const INITIAL_BUCKETS = 1 << 12;

/**
 * A set of addresses that keeps a 64-bit fingerprint of each: 16 to 32 bytes an address, however long its text. Two
 * addresses share a fingerprint with a chance of 1 in 2^64, and an attacker can make such a pair with much work. Use
 * the set only where a false match costs work, never rows.
 */
export class AddressFingerprints {
  #low = new Uint32Array(INITIAL_BUCKETS);
  #high = new Uint32Array(INITIAL_BUCKETS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(address: Address): boolean {
    const [low, high] = fingerprint(address);
    return this.#isAt(this.#bucket(low, high));
  }

  /** Adds the address; false when it is in the set already. */
  add(address: Address): boolean {
    const [low, high] = fingerprint(address);
    const bucket = this.#bucket(low, high);
    if (this.#isAt(bucket)) return false;
    this.#low[bucket] = low;
    this.#high[bucket] = high;
    this.#size += 1;
    if (this.#size * 2 > this.#low.length) this.#grow();
    return true;
  }

  #isAt(bucket: number): boolean {
    return this.#low[bucket] !== 0 || this.#high[bucket] !== 0;
  }

  /** The bucket of the fingerprint, or the empty one where it belongs. */
  #bucket(low: number, high: number): number {
    const mask = this.#low.length - 1;
    let bucket = low & mask;
    while (this.#isAt(bucket) && (this.#low[bucket] !== low || this.#high[bucket] !== high)) {
      bucket = (bucket + 1) & mask;
    }
    return bucket;
  }

  #grow(): void {
    const [low, high] = [this.#low, this.#high];
    this.#low = new Uint32Array(low.length * 2);
    this.#high = new Uint32Array(low.length * 2);
    for (let i = 0; i < low.length; i++) {
      const [a = 0, b = 0] = [low[i], high[i]];
      if (a === 0 && b === 0) continue;
      const bucket = this.#bucket(a, b);
      this.#low[bucket] = a;
      this.#high[bucket] = b;
    }
  }
}

/** 64 bits of an address's text, never all zero: two rounds of 32-bit FNV-1a with different primes. */
const fingerprint = (address: Address): readonly [number, number] => {
  let low = 0x811c9dc5;
  let high = 0x9747b28c;
  for (let i = 0; i < address.length; i++) {
    const code = address.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 13);
  }
  return [(low ^ (low >>> 15)) >>> 0, (high | 1) >>> 0];
};
