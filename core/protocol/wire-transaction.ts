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
  /** Accounts that address tables add behind the static ones. */
  readonly tableAccountCount: number;
  readonly feePayer: Address;
  /** base58 */
  readonly blockhash: string;
  readonly instructions: ReadonlyArray<WireInstruction>;
};

class Malformed extends Error {}

const reader = (bytes: Uint8Array) => {
  let at = 0;
  const take = (length: number, what: string): Uint8Array => {
    if (at + length > bytes.length) throw new Malformed(`ends within ${what}`);
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
        if (shift > 0 && byte === 0) throw new Malformed(`${what} has an overlong length`);
        if (value > 65_535) throw new Malformed(`${what} has a length beyond 65535`);
        return value;
      }
    }
    throw new Malformed(`${what} has an overlong length`);
  };
  const list = <T>(what: string, item: (index: number) => T): ReadonlyArray<T> =>
    Array.from({ length: length(what) }, (_, i) => item(i));
  return { take, u8, length, list, position: () => at, peek: () => bytes[at] };
};

const decode = (bytes: Uint8Array): WireTransaction => {
  const read = reader(bytes);
  const signatures = read.list("signatures", () => read.take(64, "signatures"));
  const messageAt = read.position();
  const first = read.peek() ?? 0;
  const version = first < 128 ? ("legacy" as const) : 0;
  if (first >= 128 && read.u8("version") !== 128)
    throw new Malformed("only legacy and version 0 transactions are taken");
  const signerCount = read.u8("header");
  const readonlySigners = read.u8("header");
  const readonlyOthers = read.u8("header");
  const staticAccounts = read.list("account keys", () =>
    addressFromBytes(read.take(32, "account keys")),
  );
  if (signerCount === 0 || signatures.length !== signerCount)
    throw new Malformed(`has ${signatures.length} signatures for ${signerCount} signers`);
  if (readonlySigners >= signerCount) throw new Malformed("its fee payer is not writable");
  if (signerCount + readonlyOthers > staticAccounts.length)
    throw new Malformed("its header counts more accounts than it has");
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
          read.take(32, "address tables");
          const writable = read.length("address tables");
          read.take(writable, "address tables");
          const readonly = read.length("address tables");
          read.take(readonly, "address tables");
          if (writable + readonly === 0)
            throw new Malformed("has an address table it does not use");
          return writable + readonly;
        })
      : [];
  const tableAccountCount = tables.reduce((sum, count) => sum + count, 0);
  if (staticAccounts.length + tableAccountCount > 256)
    throw new Malformed("names more than 256 accounts");
  if (read.position() !== bytes.length) throw new Malformed("has bytes behind its end");
  const instructions = places.map(({ programIndex, accounts, data }) => {
    const program = staticAccounts[programIndex];
    if (program === undefined || programIndex === 0)
      throw new Malformed("a program id is the fee payer or comes from an address table");
    if (accounts.some((place) => place >= staticAccounts.length + tableAccountCount))
      throw new Malformed("an instruction names an account that is not there");
    return { program, accounts, data };
  });
  const [firstSignature] = signatures;
  const [feePayer] = staticAccounts;
  if (firstSignature === undefined || feePayer === undefined) throw new Malformed("has no signer");
  return {
    version,
    signatures,
    signature: ledgerSignatureFromBytes(firstSignature),
    message: bytes.subarray(messageAt),
    staticAccounts,
    tableAccountCount,
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
): { readonly value: WireTransaction } | { readonly malformed: string } => {
  try {
    return { value: decode(bytes) };
  } catch (error) {
    if (error instanceof Malformed) return { malformed: error.message };
    throw error;
  }
};
