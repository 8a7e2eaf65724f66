import { ed25519 } from "@noble/curves/ed25519.js";
import { addressFromBytes } from "../../core/domain/address.ts";
import type { TransactionSigner } from "../signing/transaction-signer.ts";

/** A key that signs transactions, and messages such as an attestation. */
export type KeySigner = TransactionSigner & {
  /** The 64-byte Ed25519 signature of a message. */
  readonly signMessage: (message: Uint8Array) => Promise<Uint8Array>;
};

/** The signer of an Ed25519 seed of 32 bytes. */
export const keySigner = (seed: Uint8Array): KeySigner => {
  const address = addressFromBytes(ed25519.getPublicKey(seed));
  return {
    address,
    signTransactions: (transactions) =>
      Promise.resolve(
        transactions.map(({ messageBytes }) => ({ [address]: ed25519.sign(messageBytes, seed) })),
      ),
    signMessage: (message) => Promise.resolve(ed25519.sign(message, seed)),
  };
};
