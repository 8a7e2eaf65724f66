import { decodeBase58, encodeBase58 } from "../encoding/base58.ts";

declare const brand: unique symbol;

/** A ledger transaction's first signature, 64 bytes as canonical base58. It identifies the transaction. */
export type LedgerSignature = string & { readonly [brand]: "LedgerSignature" };

/** The text as a ledger signature, or undefined when it is not canonical base58 of 64 bytes. */
export const parseLedgerSignature = (text: string): LedgerSignature | undefined =>
  decodeBase58(text, 64) === undefined ? undefined : (text as LedgerSignature);

/** The 64 bytes of a signature. */
export const ledgerSignatureToBytes = (value: LedgerSignature): Uint8Array => {
  const bytes = decodeBase58(value, 64);
  if (bytes === undefined) throw new Error("a LedgerSignature must be made by its parser");
  return bytes;
};

/** The name of exactly 64 signature bytes. @throws Error for another length. */
export const ledgerSignatureFromBytes = (bytes: Uint8Array): LedgerSignature => {
  if (bytes.length !== 64) throw new Error(`a signature has 64 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as LedgerSignature;
};
