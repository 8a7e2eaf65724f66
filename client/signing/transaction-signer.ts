/**
 * Who signs transactions. A `TransactionPartialSigner` of `@solana/kit` is one, so its key pairs serve unchanged, and so does whatever wraps
 * a wallet, a device or a key service in that form. The client never sees a key.
 */
export type TransactionSigner = {
  /** The signing wallet, base58. */
  readonly address: string;
  /** The signatures of each transaction by the signer's address, 64 bytes each. It is a method, so that kit's branded types fit. */
  signTransactions(
    transactions: ReadonlyArray<{
      readonly messageBytes: Uint8Array;
      readonly signatures: Readonly<Record<string, Uint8Array | null>>;
    }>,
  ): Promise<ReadonlyArray<Readonly<Record<string, Uint8Array>>>>;
};
