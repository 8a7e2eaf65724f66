import { addressToBytes, parseAddress } from "../../core/domain/address.ts";
import { verifyEd25519 } from "../../core/protocol/crypto/strict-ed25519.ts";
import { SettlementError } from "../settlement-error.ts";
import type { TransactionSigner } from "./sign-transaction.ts";

/** Who signs bytes with one Ed25519 key: a file, an agent, a device, a key service. The client never sees the key. */
export type MessageSigner = {
  /** The public key, base58. */
  readonly publicKey: string;
  /** The 64-byte signature of exactly these bytes. */
  readonly sign: (message: Uint8Array) => Promise<Uint8Array>;
};

/**
 * The 64-byte signature of a message, which verifies strictly under the signer's key. @throws SettlementError `not_signed` when the signer gives
 * anything else.
 */
export const signatureBy = async (
  { publicKey, sign }: MessageSigner,
  message: Uint8Array,
): Promise<Uint8Array> => {
  const signature = await sign(message);
  const key = parseAddress(publicKey);
  if (key === undefined || !verifyEd25519(signature, message, addressToBytes(key)))
    throw new SettlementError(
      "not_signed",
      `The signer gave no signature of ${publicKey} over the message.`,
      "Check that the signer uses this key and gives 64 bytes of Ed25519.",
    );
  return signature;
};

/** The same signer for transactions. */
export const transactionSignerOf = (signer: MessageSigner): TransactionSigner => ({
  address: signer.publicKey,
  signTransactions: (transactions) =>
    Promise.all(
      transactions.map(async ({ messageBytes }) => ({
        [signer.publicKey]: await signatureBy(signer, messageBytes),
      })),
    ),
});
