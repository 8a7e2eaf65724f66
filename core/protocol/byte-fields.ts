import { type Address, addressFromBytes, addressToBytes } from "../domain/address.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../domain/hash32.ts";

const view = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads the little-endian fields of account data at byte offsets. @throws RangeError past the end. */
export const fieldsOf = (bytes: Uint8Array) => {
  const data = view(bytes);
  const slice = (at: number, length: number): Uint8Array => bytes.slice(at, at + length);
  return {
    u8: (at: number): number => data.getUint8(at),
    u32: (at: number): number => data.getUint32(at, true),
    u64: (at: number): bigint => data.getBigUint64(at, true),
    i64: (at: number): bigint => data.getBigInt64(at, true),
    bytes: slice,
    address: (at: number): Address => addressFromBytes(slice(at, 32)),
    hash: (at: number): Hash32 => hash32FromBytes(slice(at, 32)),
    isZero: (at: number, length: number): boolean => slice(at, length).every((byte) => byte === 0),
  };
};

/** Writes little-endian fields one after another into a fixed number of bytes, zero elsewhere. */
export const fieldWriter = (length: number) => {
  const bytes = new Uint8Array(length);
  const data = view(bytes);
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
