import { type Address, addressToBytes, recentAddress } from "../../domain/address.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../domain/hash32.ts";

/** The little-endian fields of account data at byte offsets. */
export class ByteFields {
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  u8(at: number): number {
    const byte = this.#bytes[at];
    if (byte === undefined) throw new RangeError(`no byte at ${at}`);
    return byte;
  }

  u32(at: number): number {
    const bytes = this.#within(at, 4);
    return (
      ((bytes[at] ?? 0) |
        ((bytes[at + 1] ?? 0) << 8) |
        ((bytes[at + 2] ?? 0) << 16) |
        ((bytes[at + 3] ?? 0) << 24)) >>>
      0
    );
  }

  u64(at: number): bigint {
    const low = this.u32(at);
    const high = this.u32(at + 4);
    // Nearly every time and amount needs one bigint here, where the general code makes four.
    if (high <= MAX_EXACT_HIGH) return BigInt(high * 4_294_967_296 + low);
    return (BigInt(high) << 32n) | BigInt(low);
  }

  i64(at: number): bigint {
    return BigInt.asIntN(64, this.u64(at));
  }

  /** A copy of the next bytes. */
  bytes(at: number, length: number): Uint8Array {
    return this.#within(at, length).slice(at, at + length);
  }

  address(at: number): Address {
    return recentAddress(this.#within(at, 32), at);
  }

  hash(at: number): Hash32 {
    return hash32FromBytes(this.bytes(at, 32));
  }

  isZero(at: number, length: number): boolean {
    const bytes = this.#within(at, length);
    for (let i = at; i < at + length; i++) if (bytes[i] !== 0) return false;
    return true;
  }

  /** Whether the data has exactly these bytes at the offset. */
  isAt(at: number, expected: Uint8Array): boolean {
    for (let i = 0; i < expected.length; i++) if (this.#bytes[at + i] !== expected[i]) return false;
    return true;
  }

  #within(at: number, length: number): Uint8Array {
    if (at + length > this.#bytes.length) throw new RangeError(`no ${length} bytes at ${at}`);
    return this.#bytes;
  }
}

/** The largest upper half of a u64 that a double still holds exactly. */
const MAX_EXACT_HIGH = 0x1f_ffff;

/**
 * Reads the little-endian fields of account data at byte offsets, without a DataView: making one moves the
 * bytes. @throws RangeError past the end.
 */
export const fieldsOf = (bytes: Uint8Array): ByteFields => new ByteFields(bytes);

const eight = new DataView(new ArrayBuffer(8));
const eightBytes = new Uint8Array(eight.buffer);

class FieldWriter {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(length: number) {
    this.#bytes = new Uint8Array(length);
  }

  bytes(value: Uint8Array): this {
    this.#bytes.set(value, this.#at);
    return this.skip(value.length);
  }

  u8(value: number): this {
    this.#bytes[this.#at] = value;
    return this.skip(1);
  }

  u32(value: number): this {
    for (let shift = 0; shift < 32; shift += 8) this.u8(value >>> shift);
    return this;
  }

  u64(value: bigint): this {
    eight.setBigUint64(0, value, true);
    return this.bytes(eightBytes);
  }

  i64(value: bigint): this {
    return this.u64(value);
  }

  address(value: Address): this {
    return this.bytes(addressToBytes(value));
  }

  hash(value: Hash32): this {
    return this.bytes(hash32ToBytes(value));
  }

  skip(count: number): this {
    this.#at += count;
    return this;
  }

  /** The finished bytes. @throws Error unless every byte was written or skipped. */
  done(): Uint8Array {
    const { length } = this.#bytes;
    if (this.#at !== length) throw new Error(`wrote ${this.#at} of ${length} bytes`);
    return this.#bytes;
  }
}

/**
 * Writes little-endian fields one after another into a fixed number of bytes, zero elsewhere. It makes no DataView of
 * them either.
 */
export const fieldWriter = (length: number): FieldWriter => new FieldWriter(length);
