/** Why a transaction failed on the ledger. */
export type TransactionError = {
  /** The runtime's name for the error, such as `InstructionError` or `BlockhashNotFound`. */
  readonly kind: string;
  /** The failing instruction's index, for an `InstructionError`. */
  readonly instructionIndex: number | null;
  /** The instruction's own error: a builtin name, or `Custom`. */
  readonly instructionError: string | null;
  /** The program's error number, u32, where `instructionError` is `Custom`. */
  readonly customCode: number | null;
};

/** The result of running a transaction without landing it. */
export type Simulation = {
  readonly slot: bigint;
  /** Null when it would succeed. */
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
};

/** A transaction that is in a block, whether it succeeded or failed there. */
export type LandedTransaction = {
  readonly slot: bigint;
  readonly commitment: "processed" | "confirmed" | "finalized";
  readonly error: TransactionError | null;
};
