import { type Address, addressFromBytes } from "../domain/address.ts";
import { encodeBase58 } from "../domain/base58.ts";
import { type LedgerSignature, ledgerSignatureFromBytes } from "../domain/ledger-signature.ts";

/** The most bytes a legacy or version 0 transaction may have (Agave `sdk/packet`: PACKET_DATA_SIZE). */
export const MAX_TRANSACTION_BYTES = 1232;

/** One instruction as the message carries it; `accounts` are places in the message's account list. */
export type WireInstruction = {
  readonly program: Address;
  readonly accounts: ReadonlyArray<number>;
  readonly data: Uint8Array;
};

/** What a version 0 message takes from one address lookup table: places in the table's own list. */
export type TableLookup = {
  readonly table: Address;
  readonly writable: ReadonlyArray<number>;
  readonly readonly: ReadonlyArray<number>;
};

/** A decoded, not yet verified transaction. */
export type WireTransaction = {
  readonly version: "legacy" | 0;
  /** 64 bytes each, in the order of the signers. */
  readonly signatures: ReadonlyArray<Uint8Array>;
  /** The first signature, which names the transaction. */
  readonly signature: LedgerSignature;
  /** The bytes that are signed. */
  readonly message: Uint8Array;
  /** The accounts named in the message itself; the first ones, as many as `signatures`, sign. */
  readonly staticAccounts: ReadonlyArray<Address>;
  /** How many of the signers, the last ones, are read-only; likewise of the other static accounts. */
  readonly readonlySigners: number;
  readonly readonlyOthers: number;
  /** Accounts that address tables add behind the static ones: all writable ones, then all read-only ones. */
  readonly tables: ReadonlyArray<TableLookup>;
  readonly feePayer: Address;
  /** base58 */
  readonly blockhash: string;
  readonly instructions: ReadonlyArray<WireInstruction>;
};

/** Why bytes are no transaction the relay can take; the text completes "The transaction ...". */
export type WireFault = {
  readonly malformed: string;
  /** The transaction's name, when the fault is a program id that an address table supplies. */
  readonly programFromTable: LedgerSignature | null;
};

class Malformed extends Error {
  readonly programFromTable: LedgerSignature | null;
  constructor(message: string, programFromTable: LedgerSignature | null = null) {
    super(message);
    this.programFromTable = programFromTable;
  }
}

/** The first byte of a version 1 transaction, whose version comes before its signatures (SIMD-0385). */
const VERSION_1 = 0x81;

/** Whether bytes say that they are a version 1 transaction, which has a size limit of its own. */
export const isVersion1 = (bytes: Uint8Array): boolean => bytes[0] === VERSION_1;

const reader = (bytes: Uint8Array) => {
  let at = 0;
  const take = (length: number, what: string): Uint8Array => {
    if (at + length > bytes.length) throw new Malformed(`ends within its ${what}`);
    at += length;
    return bytes.subarray(at - length, at);
  };
  const u8 = (what: string): number => take(1, what)[0] ?? 0;
  /** A length in one to three bytes of seven bits, shortest form only (Agave `short_vec.rs`). */
  const length = (what: string): number => {
    let value = 0;
    for (let shift = 0; shift < 21; shift += 7) {
      const byte = u8(what);
      value |= (byte & 127) << shift;
      if (byte < 128) {
        if (shift > 0 && byte === 0) throw new Malformed(`has an overlong length at its ${what}`);
        if (value > 65_535) throw new Malformed(`has a length beyond 65535 at its ${what}`);
        return value;
      }
    }
    throw new Malformed(`has an overlong length at its ${what}`);
  };
  const list = <T>(what: string, item: (index: number) => T): ReadonlyArray<T> =>
    Array.from({ length: length(what) }, (_, i) => item(i));
  return { take, u8, length, list, position: () => at, peek: () => bytes[at] };
};

const decode = (bytes: Uint8Array): WireTransaction => {
  if (isVersion1(bytes)) throw new Malformed("is of version 1; sign a legacy or version 0 one");
  const read = reader(bytes);
  const signatures = read.list("signatures", () => read.take(64, "signatures"));
  const messageAt = read.position();
  const first = read.peek() ?? 0;
  const version = first < 128 ? ("legacy" as const) : 0;
  if (first >= 128 && read.u8("version") !== 128)
    throw new Malformed("is neither a legacy nor a version 0 transaction");
  const signerCount = read.u8("header");
  const readonlySigners = read.u8("header");
  const readonlyOthers = read.u8("header");
  const staticAccounts = read.list("account keys", () =>
    addressFromBytes(read.take(32, "account keys")),
  );
  if (signerCount === 0 || signatures.length !== signerCount)
    throw new Malformed(`has ${signatures.length} signatures for ${signerCount} signers`);
  if (readonlySigners >= signerCount) throw new Malformed("has a fee payer that is not writable");
  if (signerCount + readonlyOthers > staticAccounts.length)
    throw new Malformed("has a header that counts more accounts than it has");
  if (new Set(staticAccounts).size !== staticAccounts.length)
    throw new Malformed("names an account twice");
  const blockhash = encodeBase58(read.take(32, "blockhash"));
  const places = read.list("instructions", () => ({
    programIndex: read.u8("instructions"),
    accounts: read.list("instruction accounts", () => read.u8("instruction accounts")),
    data: read.take(read.length("instruction data"), "instruction data"),
  }));
  const tables =
    version === 0
      ? read.list("address tables", () => {
          const table = addressFromBytes(read.take(32, "address tables"));
          const places = () => [...read.take(read.length("address tables"), "address tables")];
          const lookup = { table, writable: places(), readonly: places() };
          if (lookup.writable.length + lookup.readonly.length === 0)
            throw new Malformed("has an address table it does not use");
          return lookup;
        })
      : [];
  const tableAccountCount = tables.reduce(
    (sum, { writable, readonly }) => sum + writable.length + readonly.length,
    0,
  );
  if (staticAccounts.length + tableAccountCount > 256)
    throw new Malformed("names more than 256 accounts");
  if (read.position() !== bytes.length) throw new Malformed("has bytes behind its end");
  const [firstSignature] = signatures;
  const [feePayer] = staticAccounts;
  if (firstSignature === undefined || feePayer === undefined) throw new Malformed("has no signer");
  const signature = ledgerSignatureFromBytes(firstSignature);
  const instructions = places.map(({ programIndex, accounts, data }) => {
    const program = staticAccounts[programIndex];
    if (programIndex === 0) throw new Malformed("calls its own fee payer as a program");
    if (program === undefined) {
      const fromTable = programIndex < staticAccounts.length + tableAccountCount;
      throw new Malformed(
        "has a program id that is not among its own accounts",
        fromTable ? signature : null,
      );
    }
    if (accounts.some((place) => place >= staticAccounts.length + tableAccountCount))
      throw new Malformed("has an instruction that names an account which is not there");
    return { program, accounts, data };
  });
  return {
    version,
    signatures,
    signature,
    message: bytes.subarray(messageAt),
    staticAccounts,
    readonlySigners,
    readonlyOthers,
    tables,
    feePayer,
    blockhash,
    instructions,
  };
};

/**
 * The one transaction that bytes hold, or what is wrong with them. Strict: canonical lengths, nothing
 * behind the end, one signature a signer, no account twice, no unused address table, at most 256
 * accounts, every index in range (Agave `message/src/versions/v0/mod.rs`: `sanitize`), so that encoding
 * it again gives the same bytes.
 */
export const decodeWireTransaction = (
  bytes: Uint8Array,
): { readonly value: WireTransaction } | WireFault => {
  try {
    return { value: decode(bytes) };
  } catch (error) {
    if (error instanceof Malformed)
      return { malformed: error.message, programFromTable: error.programFromTable };
    throw error;
  }
};
