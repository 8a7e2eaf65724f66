/**
 * What a prepared transaction asks of the Compute Budget program beside its price. Its units are at least 1.8 times the measured
 * maximum when addresses need the usual number of bump tries.
 */
export type TransactionBudget = {
  /** Compute units. */
  readonly unitLimit: number;
  /** The bytes of accounts and programs that it may load; absent: as many as the ledger loads at most. */
  readonly loadedBytes?: number;
};

/** Several times the size of the SPL programs and both of ours. */
export const LOADED_BYTES = 1_048_576;

/**
 * A settlement loads accounts of parties that may want to stop it. Each of them can grow its own account to 10 MiB, so
 * nothing limits what is loaded. The Token program is called with the rent payer's account, at a unit for 250 bytes
 * (Agave `execution_budget.rs`: cpi_bytes_per_unit): 42,000 units for 10 MiB. Beside that a partial release that makes
 * both payees' accounts takes 40,000 units, and each further bump try 1,500.
 */
export const SETTLEMENT_BUDGET: TransactionBudget = { unitLimit: 150_000 };

/** The most bytes of a prepared transaction: 100 below the ledger's limit, for what wallets add. */
export const MAX_PREPARED_BYTES = 1132;
