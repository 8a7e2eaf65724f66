import { concatBytes } from "@noble/hashes/utils.js";

const SEVEN_BITS = 127n;
const MORE = 0x80;
/** A u64 in parts of seven bits. */
const MOST_PARTS = 10;

/** A u64 in as few bytes as it needs: seven bits each, lowest first, the top bit set in all but the last (LEB128). */
export const packedNumber = (value: bigint | number): Uint8Array => {
  const bytes: Array<number> = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > SEVEN_BITS; rest >>= 7n) bytes.push(Number(rest & SEVEN_BITS) | MORE);
  bytes.push(Number(rest));
  return Uint8Array.from(bytes);
};

/** Bytes behind their length. */
export const packedBytes = (bytes: Uint8Array): Uint8Array =>
  concatBytes(packedNumber(bytes.length), bytes);

/** Takes packed values from bytes, one after another. Each call throws RangeError for what is not there. */
export class PackedReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** A copy of the next bytes. */
  take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError(`no ${length} bytes at ${this.#at}`);
    const bytes = this.#bytes.slice(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** A u64 that `packedNumber` wrote. */
  u64(): bigint {
    let value = 0n;
    for (let part = 0; part < MOST_PARTS; part++) {
      const byte = this.take(1)[0] ?? 0;
      value |= (BigInt(byte) & SEVEN_BITS) << BigInt(7 * part);
      if (byte < MORE) return BigInt.asUintN(64, value);
    }
    throw new RangeError("no number of 64 bits");
  }

  /** A number that a length or a count may be. */
  number(): number {
    const value = Number(this.u64());
    if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no count`);
    return value;
  }

  /** What `packedBytes` wrote. */
  bytes(): Uint8Array {
    return this.take(this.number());
  }

  /** Everything that is left. */
  rest(): Uint8Array {
    return this.take(this.#bytes.length - this.#at);
  }

  /** @throws RangeError unless everything was taken. */
  done(): void {
    if (this.#at !== this.#bytes.length)
      throw new RangeError(`${this.#bytes.length - this.#at} bytes too many`);
  }
}
