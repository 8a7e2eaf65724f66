import { addressToBytes, parseAddress } from "../../core/domain/address.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import { verifyEd25519 } from "../../core/protocol/crypto/strict-ed25519.ts";
import type { UnsignedTransaction } from "../../core/protocol/transaction/unsigned-transaction.ts";
import { SettlementError } from "../settlement-error.ts";

/**
 * Who signs transactions. It is in the form of a `TransactionPartialSigner` of `@solana/kit`, and wraps a key, a
 * wallet, a device or a key service. The client never sees a key.
 */
export type TransactionSigner = {
  /** The signing wallet, base58. */
  readonly address: string;
  /**
   * The signatures of each transaction by the signer's address, 64 bytes each. It is a method, so that kit's branded
   * types fit.
   */
  signTransactions(
    transactions: ReadonlyArray<{
      readonly messageBytes: Uint8Array;
      readonly signatures: Readonly<Record<string, Uint8Array | null>>;
    }>,
  ): Promise<ReadonlyArray<Readonly<Record<string, Uint8Array>>>>;
};

/**
 * Any signer that is accepted: a `TransactionSigner`, or a `TransactionPartialSigner` of kit, whose bytes can only be
 * read.
 */
export type AcceptedSigner = {
  /** The signing wallet, base58. */
  readonly address: string;
  /** The same as in `TransactionSigner`. */
  signTransactions(
    transactions: ReadonlyArray<{
      readonly messageBytes: ArrayLike<number>;
      readonly signatures: Readonly<Record<string, Uint8Array | null>>;
    }>,
  ): Promise<ReadonlyArray<Readonly<Record<string, Uint8Array>>>>;
};

/** A signed transaction: its bytes for the relay, and its signature, which names it on the ledger. */
export type SignedTransaction = { readonly base64: string; readonly signature: string };

/** Where the signatures begin: after their count, which is one byte for up to 127. */
const FIRST_SIGNATURE = 1;
const SIGNATURE_BYTES = 64;

/**
 * The transaction with the signatures of all its signers. Check it first. @throws SettlementError when one of them is
 * missing or gives no 64 bytes.
 */
export const signTransaction = async (
  transaction: UnsignedTransaction,
  signers: ReadonlyArray<AcceptedSigner>,
): Promise<SignedTransaction> => {
  const bytes = Uint8Array.from(transaction.bytes);
  const none = Object.fromEntries(transaction.signers.map((address) => [address, null]));
  for (const [place, address] of transaction.signers.entries()) {
    const signer = signers.find((each) => each.address === address);
    const [given] = signer
      ? await signer.signTransactions([{ messageBytes: transaction.message, signatures: none }])
      : [];
    const signature = given?.[address];
    if (signature?.length !== SIGNATURE_BYTES)
      throw new SettlementError(
        "not_signed",
        `${address} must sign the transaction and did not.`,
        signer === undefined ? "Give its signer." : "Check the signer: it gave no 64 bytes.",
      );
    bytes.set(signature, FIRST_SIGNATURE + place * SIGNATURE_BYTES);
  }
  const first = bytes.subarray(FIRST_SIGNATURE, FIRST_SIGNATURE + SIGNATURE_BYTES);
  return { base64: encodeBase64(bytes), signature: ledgerSignatureFromBytes(first) };
};

/** Who signs bytes with one Ed25519 key: a file, an agent, a device, a key service. The client never sees the key. */
export type MessageSigner = {
  /** The public key, base58. */
  readonly publicKey: string;
  /** The 64-byte signature of exactly these bytes. */
  readonly sign: (message: Uint8Array) => Promise<Uint8Array>;
};

/** A key of a seller: a `MessageSigner`, or what `readKeyFile` and `keySigner` give. */
export type SellerKey =
  | MessageSigner
  | {
      /** The public key, base58. */
      readonly address: string;
      /** The 64-byte signature of exactly these bytes. */
      readonly signMessage: (message: Uint8Array) => Promise<Uint8Array>;
    };

/** The key as a signer of messages. */
export const messageSignerOf = (key: SellerKey): MessageSigner =>
  "publicKey" in key ? key : { publicKey: key.address, sign: key.signMessage };

/**
 * The 64-byte signature of a message, which verifies strictly under the signer's key. @throws SettlementError
 * `not_signed` when the signer gives anything else.
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
