import type { Address } from "../../domain/address.ts";
import { type LedgerSignature, ledgerSignatureFromBytes } from "../../domain/ledger/signature.ts";
import { readMessage, type WireMessage } from "./wire-message.ts";
import { Malformed, wireReader } from "./wire-reader.ts";

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
export type WireFault = {
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
