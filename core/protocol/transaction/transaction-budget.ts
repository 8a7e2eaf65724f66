import type { PreparedOperation } from "../../domain/escrow/prepared-call.ts";

/**
 * Compute units for each operation: at least twice its measured maximum when addresses need the usual number
 * of bump tries. Each further try costs 1,500 units.
 */
const UNITS: Readonly<Record<PreparedOperation, number>> = {
  create_escrow: 160_000,
  release_escrow: 50_000,
  release_partial: 60_000,
  claim_refund: 40_000,
  cancel_escrow: 40_000,
  archive_escrow: 20_000,
  register_merchant: 60_000,
  rotate_attestor: 30_000,
};

/** Units for making one associated token account. */
const UNITS_OF_TOKEN_ACCOUNT = 60_000;

/** The bytes of accounts and programs that a prepared transaction may load: several times the size of the SPL programs and both of ours. */
export const LOADED_BYTES = 1_048_576;

/** The most bytes of a prepared transaction: 100 below the ledger's limit, for what wallets add. */
export const MAX_PREPARED_BYTES = 1132;

/** Compute units that a transaction of an operation asks for. `newTokenAccounts` is how many it makes first. */
export const unitLimitOf = (operation: PreparedOperation, newTokenAccounts: number): number =>
  UNITS[operation] + newTokenAccounts * UNITS_OF_TOKEN_ACCOUNT;
