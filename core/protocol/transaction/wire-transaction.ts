import { type Address, addressFromBytes } from "../../domain/address.ts";
import type { Instruction } from "../../domain/ledger/instruction.ts";
import { type LedgerSignature, ledgerSignatureFromBytes } from "../../domain/ledger/signature.ts";

/** The bytes are not a transaction; the message completes "The transaction ...". */
class Malformed extends Error {
  /** Whether the fault is a program id that an address table supplies. */
  readonly programFromTable: boolean;
  constructor(message: string, programFromTable = false) {
    super(message);
    this.programFromTable = programFromTable;
  }
}

/**
 * Reads a transaction's bytes forward. `what` names the part that is read, for the fault.
 * @throws Malformed where the bytes end too early or a length is not canonical.
 */
const wireReader = (bytes: Uint8Array) => {
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
  return {
    take,
    u8,
    /** Bytes that follow their length. */
    bytes: (what: string): Uint8Array => take(length(what), what),
    /** Items that follow their count. */
    list: <T>(what: string, item: () => T): ReadonlyArray<T> =>
      Array.from({ length: length(what) }, item),
    /** The bytes that have not been read. */
    rest: (): Uint8Array => bytes.subarray(at),
  };
};

/** See `wireReader`. */
type WireReader = ReturnType<typeof wireReader>;

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
const readMessage = (
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

/** The most bytes a legacy or version 0 transaction may have (Agave `sdk/packet`: PACKET_DATA_SIZE). */
export const MAX_TRANSACTION_BYTES = 1232;

/** A decoded, not yet verified transaction. */
export type WireTransaction = WireMessage & {
  /** All of it, as it was decoded. */
  readonly bytes: Uint8Array;
  /** 64 bytes each, in the order of the signers. */
  readonly signatures: ReadonlyArray<Uint8Array>;
  /** The first signature, which names the transaction. */
  readonly signature: LedgerSignature;
  /** The bytes that are signed. */
  readonly message: Uint8Array;
};

/** Why the relay cannot accept these bytes as a transaction; the text completes "The transaction ...". */
type WireFault = {
  readonly malformed: string;
  /** The transaction's name, when the fault is a program id that an address table supplies. */
  readonly programFromTable: LedgerSignature | null;
};

/** The first byte of a version 1 transaction, whose version comes before its signatures (SIMD-0385). */
const VERSION_1 = 0x81;

/** Whether bytes say that they are a version 1 transaction, which has a size limit of its own. */
export const isVersion1 = (bytes: Uint8Array): boolean => bytes[0] === VERSION_1;

type Outcome = { readonly value: WireTransaction } | WireFault;

const decode = (
  bytes: Uint8Array,
  checkAccounts: (accounts: ReadonlyArray<Address>) => void,
): Outcome => {
  let name: Uint8Array | undefined;
  try {
    if (isVersion1(bytes)) throw new Malformed("is of version 1; sign a legacy or version 0 one");
    const read = wireReader(bytes);
    const signatures = read.list("signatures", () => read.take(64, "signatures"));
    [name] = signatures;
    const message = read.rest();
    const content = readMessage(read, (signerCount, accounts) => {
      if (signerCount === 0 || signatures.length !== signerCount)
        throw new Malformed(`has ${signatures.length} signatures for ${signerCount} signers`);
      checkAccounts(accounts);
    });
    if (name === undefined) throw new Malformed("has no signer");
    const signature = ledgerSignatureFromBytes(name);
    return { value: { ...content, bytes, signatures, signature, message } };
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    const named = error.programFromTable ? name : undefined;
    return {
      malformed: error.message,
      programFromTable: named === undefined ? null : ledgerSignatureFromBytes(named),
    };
  }
};

/**
 * The one transaction that bytes hold, or what is wrong with them. Strict: canonical lengths, nothing
 * behind the end, one signature a signer, no unused address table, at most 256 accounts, every index in
 * range (Agave `message/src/versions/v0/mod.rs`: `sanitize`), so that encoding it again gives the same
 * bytes. One that names an account twice is decoded: a ledger refuses that when it locks the accounts.
 */
export const decodeSanitizedTransaction = (bytes: Uint8Array): Outcome => decode(bytes, () => {});

/** As `decodeSanitizedTransaction`, and refuses a transaction that names an account twice, because it cannot land. */
export const decodeWireTransaction = (bytes: Uint8Array): Outcome =>
  decode(bytes, (accounts) => {
    if (new Set(accounts).size !== accounts.length) throw new Malformed("names an account twice");
  });

/**
 * The instructions of a message without address tables, with their accounts as addresses and the roles that the message
 * gives them.
 */
export const openedInstructions = (message: WireMessage): ReadonlyArray<Instruction> => {
  const { staticAccounts, signerCount, readonlySigners, readonlyOthers } = message;
  const roleAt = (place: number) => {
    const signs = place < signerCount;
    const writable = signs
      ? place < signerCount - readonlySigners
      : place < staticAccounts.length - readonlyOthers;
    return ((signs ? 2 : 0) + (writable ? 1 : 0)) as 0 | 1 | 2 | 3;
  };
  return message.instructions.map(({ program, accounts, data }) => ({
    programAddress: program,
    accounts: accounts.map((place) => ({
      address: staticAccounts[place] as Address,
      role: roleAt(place),
    })),
    data,
  }));
};
