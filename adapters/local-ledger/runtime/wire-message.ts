import { type Address, addressFromBytes } from "../../../core/domain/address.ts";

/** One instruction, its accounts by index into the transaction's account keys. */
export type WireInstruction = {
  readonly programIndex: number;
  readonly accountIndexes: ReadonlyArray<number>;
  readonly data: Uint8Array;
};

/** Accounts that a version 0 message takes from one address lookup table. */
type TableLookup = {
  readonly table: Address;
  readonly writableIndexes: ReadonlyArray<number>;
  readonly readonlyIndexes: ReadonlyArray<number>;
};

/** A legacy or version 0 message as it stands on the wire. */
export type WireMessage = {
  readonly version: "legacy" | 0;
  readonly header: {
    readonly numSignerAccounts: number;
    readonly numReadonlySignerAccounts: number;
    readonly numReadonlyNonSignerAccounts: number;
  };
  readonly staticAccounts: ReadonlyArray<Address>;
  /** base58 */
  readonly blockhash: string;
  readonly instructions: ReadonlyArray<WireInstruction>;
  readonly lookups: ReadonlyArray<TableLookup>;
};

/** Most accounts that a one-byte index can name. */
const MAX_ACCOUNTS = 256;

/** Reads forward; past the end it gives nothing and `isWhole` is false for good. */
const reader = (bytes: Uint8Array) => {
  let at = 0;
  let whole = true;
  const take = (length: number): Uint8Array => {
    if (at + length > bytes.length) {
      whole = false;
      return new Uint8Array(length);
    }
    at += length;
    return bytes.subarray(at - length, at);
  };
  const isCut = (): boolean => !whole;
  const u8 = (): number => take(1)[0] ?? 0;
  /** u16 in one to three bytes of seven bits, shortest form only (Agave `short_vec.rs`). */
  const length = (): number => {
    const low = u8();
    if (low < 0x80) return low;
    const middle = u8();
    const high = middle < 0x80 ? 0 : u8();
    if ((middle === 0 && high === 0) || (middle >= 0x80 && (high === 0 || high > 3))) whole = false;
    return (low & 0x7f) | ((middle & 0x7f) << 7) | (high << 14);
  };
  return {
    take,
    u8,
    bytes: (): Uint8Array => take(isCut() ? 0 : length()),
    list: <T>(item: () => T): ReadonlyArray<T> => {
      const items: Array<T> = [];
      // A count of 65,535 on a short message must not cost as many items.
      for (let left = length(); left > 0 && !isCut(); left--) items.push(item());
      return items;
    },
    isWhole: (): boolean => whole && at === bytes.length,
  };
};

/** The rules of Agave's `Message::sanitize`: what passes them cannot make the virtual machine panic. */
const isSane = ({ header, staticAccounts, instructions, lookups }: WireMessage): boolean => {
  const fixed = staticAccounts.length;
  const total = lookups.reduce(
    (count, { writableIndexes, readonlyIndexes }) =>
      count + writableIndexes.length + readonlyIndexes.length,
    fixed,
  );
  return (
    header.numSignerAccounts + header.numReadonlyNonSignerAccounts <= fixed &&
    header.numReadonlySignerAccounts < header.numSignerAccounts &&
    total <= MAX_ACCOUNTS &&
    lookups.every((l) => l.writableIndexes.length + l.readonlyIndexes.length > 0) &&
    instructions.every(
      ({ programIndex, accountIndexes }) =>
        programIndex > 0 && programIndex < fixed && accountIndexes.every((index) => index < total),
    )
  );
};

/**
 * The message that exactly these bytes encode, or undefined when they are no legacy or version 0
 * message, carry anything besides, or break a rule of Agave's sanitisation. Not kit's decoder: that one
 * takes bytes behind the end, and needs half a millisecond for what has to run before every transaction.
 */
export const decodeWireMessage = (bytes: Uint8Array): WireMessage | undefined => {
  const read = reader(bytes);
  const first = bytes[0] ?? 0xff;
  // The top bit marks a version; without it the byte is already the header of a legacy message.
  if (first >= 0x80 && read.u8() !== 0x80) return undefined;
  const version = first < 0x80 ? "legacy" : 0;
  const message: WireMessage = {
    version,
    header: {
      numSignerAccounts: read.u8(),
      numReadonlySignerAccounts: read.u8(),
      numReadonlyNonSignerAccounts: read.u8(),
    },
    staticAccounts: read.list(() => addressFromBytes(read.take(32))),
    blockhash: addressFromBytes(read.take(32)),
    instructions: read.list(() => ({
      programIndex: read.u8(),
      accountIndexes: [...read.bytes()],
      data: read.bytes(),
    })),
    lookups:
      version === "legacy"
        ? []
        : read.list(() => ({
            table: addressFromBytes(read.take(32)),
            writableIndexes: [...read.bytes()],
            readonlyIndexes: [...read.bytes()],
          })),
  };
  return read.isWhole() && isSane(message) ? message : undefined;
};
