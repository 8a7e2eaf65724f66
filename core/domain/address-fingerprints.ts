import type { Address } from "./address.ts";

const INITIAL_PLACES = 1 << 12;

/**
 * A set of addresses that keeps 64 bits of each: 16 to 32 bytes an address however long its text, so that
 * a million fit where their texts would not. Two addresses can be taken for one, with a chance of one
 * in 2^64 a pair and by hard work of someone who wants it: use it where that costs work, never rows.
 */
export class AddressFingerprints {
  #low = new Uint32Array(INITIAL_PLACES);
  #high = new Uint32Array(INITIAL_PLACES);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(address: Address): boolean {
    const [low, high] = fingerprint(address);
    return this.#isAt(this.#place(low, high));
  }

  /** Whether the address is new. */
  add(address: Address): boolean {
    const [low, high] = fingerprint(address);
    const place = this.#place(low, high);
    if (this.#isAt(place)) return false;
    this.#low[place] = low;
    this.#high[place] = high;
    this.#size += 1;
    if (this.#size * 2 > this.#low.length) this.#grow();
    return true;
  }

  #isAt(place: number): boolean {
    return this.#low[place] !== 0 || this.#high[place] !== 0;
  }

  /** Where the fingerprint is, or the empty place where it belongs. */
  #place(low: number, high: number): number {
    const mask = this.#low.length - 1;
    let place = low & mask;
    while (this.#isAt(place) && (this.#low[place] !== low || this.#high[place] !== high)) {
      place = (place + 1) & mask;
    }
    return place;
  }

  #grow(): void {
    const [low, high] = [this.#low, this.#high];
    this.#low = new Uint32Array(low.length * 2);
    this.#high = new Uint32Array(low.length * 2);
    for (let i = 0; i < low.length; i++) {
      const [a = 0, b = 0] = [low[i], high[i]];
      if (a === 0 && b === 0) continue;
      const place = this.#place(a, b);
      this.#low[place] = a;
      this.#high[place] = b;
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
