/**
 * Who signs transactions. It is in the form of a `TransactionPartialSigner` of `@solana/kit`, and wraps a key, a wallet, a device or a key
 * service. The client never sees a key.
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

/**
 * Any signer that is accepted: a `TransactionSigner`, or a `TransactionPartialSigner` of kit, whose bytes can only be read.
 */
export type AcceptedSigner = {
  /** The signing wallet, base58. */
  readonly address: string;
  /** As of a `TransactionSigner`. */
  signTransactions(
    transactions: ReadonlyArray<{
      readonly messageBytes: ArrayLike<number>;
      readonly signatures: Readonly<Record<string, Uint8Array | null>>;
    }>,
  ): Promise<ReadonlyArray<Readonly<Record<string, Uint8Array>>>>;
};
