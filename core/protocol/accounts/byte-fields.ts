import { type Address, addressToBytes } from "../../domain/address.ts";
import { recentAddress } from "../../domain/recent-address.ts";
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

/** Writes little-endian fields one after another into a fixed number of bytes, zero elsewhere. */
export const fieldWriter = (length: number) => {
  const bytes = new Uint8Array(length);
  const data = new DataView(bytes.buffer);
  let at = 0;
  const advance = (by: number): number => {
    at += by;
    return at - by;
  };
  const writer = {
    bytes: (value: Uint8Array) => {
      bytes.set(value, advance(value.length));
      return writer;
    },
    u8: (value: number) => {
      data.setUint8(advance(1), value);
      return writer;
    },
    u32: (value: number) => {
      data.setUint32(advance(4), value, true);
      return writer;
    },
    u64: (value: bigint) => {
      data.setBigUint64(advance(8), value, true);
      return writer;
    },
    i64: (value: bigint) => {
      data.setBigInt64(advance(8), value, true);
      return writer;
    },
    address: (value: Address) => writer.bytes(addressToBytes(value)),
    hash: (value: Hash32) => writer.bytes(hash32ToBytes(value)),
    skip: (count: number) => {
      advance(count);
      return writer;
    },
    /** The finished bytes. @throws Error unless every byte was written or skipped. */
    done: (): Uint8Array => {
      if (at !== length) throw new Error(`wrote ${at} of ${length} bytes`);
      return bytes;
    },
  };
  return writer;
};
