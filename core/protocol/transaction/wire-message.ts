import { type Address, addressFromBytes } from "../../domain/address.ts";
import { Malformed, type WireReader, wireReader } from "./wire-reader.ts";

/** Most accounts that a one-byte index can name. */
const MAX_ACCOUNTS = 256;

/** One instruction as the message carries it; `accounts` are indexes into the message's account list. */
export type WireInstruction = {
  readonly program: Address;
  readonly accounts: ReadonlyArray<number>;
  readonly data: Uint8Array;
};

/** What a version 0 message takes from one address lookup table: indexes into the table's own list. */
export type TableLookup = {
  readonly table: Address;
  readonly writable: ReadonlyArray<number>;
  readonly readonly: ReadonlyArray<number>;
};

/** A legacy or version 0 message. */
export type WireMessage = {
  readonly version: "legacy" | 0;
  /** The accounts named in the message itself, of which the first `signerCount` sign. */
  readonly staticAccounts: ReadonlyArray<Address>;
  readonly signerCount: number;
  /** How many signers are read-only: the last ones. The same for the other static accounts. */
  readonly readonlySigners: number;
  readonly readonlyOthers: number;
  /** Accounts that address tables add behind the static ones: all writable ones, then all read-only ones. */
  readonly tables: ReadonlyArray<TableLookup>;
  readonly feePayer: Address;
  /** base58 */
  readonly blockhash: string;
  readonly instructions: ReadonlyArray<WireInstruction>;
};

const readTables = (read: WireReader): ReadonlyArray<TableLookup> =>
  read.list("address tables", () => {
    const table = addressFromBytes(read.take(32, "address tables"));
    const places = () => [...read.bytes("address tables")];
    const lookup = { table, writable: places(), readonly: places() };
    if (lookup.writable.length + lookup.readonly.length === 0)
      throw new Malformed("has an address table it does not use");
    return lookup;
  });

/**
 * Reads the rest of the bytes as a message. `check` judges its signers and accounts before anything else
 * is read. @throws Malformed by the rules of Agave's `Message::sanitize`, and whatever `check` throws.
 */
export const readMessage = (
  read: WireReader,
  check: (signerCount: number, accounts: ReadonlyArray<Address>) => void,
): WireMessage => {
  const first = read.rest()[0] ?? 0;
  // The top bit marks a version; without it the byte is already the header of a legacy message.
  const version = first < 128 ? ("legacy" as const) : 0;
  if (first >= 128 && read.u8("version") !== 128)
    throw new Malformed("is neither a legacy nor a version 0 transaction");
  const signerCount = read.u8("header");
  const readonlySigners = read.u8("header");
  const readonlyOthers = read.u8("header");
  const staticAccounts = read.list("account keys", () =>
    addressFromBytes(read.take(32, "account keys")),
  );
  check(signerCount, staticAccounts);
  if (readonlySigners >= signerCount) throw new Malformed("has a fee payer that is not writable");
  if (signerCount + readonlyOthers > staticAccounts.length)
    throw new Malformed("has a header that counts more accounts than it has");
  const blockhash = addressFromBytes(read.take(32, "blockhash"));
  const calls = read.list("instructions", () => ({
    programIndex: read.u8("instructions"),
    accounts: [...read.bytes("instruction accounts")],
    data: read.bytes("instruction data"),
  }));
  const tables = version === 0 ? readTables(read) : [];
  const accountCount = tables.reduce(
    (sum, { writable, readonly }) => sum + writable.length + readonly.length,
    staticAccounts.length,
  );
  if (accountCount > MAX_ACCOUNTS) throw new Malformed("names more than 256 accounts");
  if (read.rest().length > 0) throw new Malformed("has bytes behind its end");
  const [feePayer] = staticAccounts;
  if (feePayer === undefined) throw new Malformed("has no signer");
  const instructions = calls.map(({ programIndex, accounts, data }) => {
    const program = staticAccounts[programIndex];
    if (programIndex === 0) throw new Malformed("calls its own fee payer as a program");
    if (program === undefined)
      throw new Malformed(
        "has a program id that is not among its own accounts",
        programIndex < accountCount,
      );
    if (accounts.some((place) => place >= accountCount))
      throw new Malformed("has an instruction that names an account which is not there");
    return { program, accounts, data };
  });
  return {
    version,
    staticAccounts,
    signerCount,
    readonlySigners,
    readonlyOthers,
    tables,
    feePayer,
    blockhash,
    instructions,
  };
};

/**
 * The message that exactly these bytes encode. Undefined when they are not a legacy or version 0 message, have
 * further bytes, or break a rule of Agave's `Message::sanitize`.
 */
export const decodeWireMessage = (bytes: Uint8Array): WireMessage | undefined => {
  try {
    return readMessage(wireReader(bytes), () => {});
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
};
