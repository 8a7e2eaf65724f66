import type { Address } from "../address.ts";
import type { UnixSeconds } from "../unix-time.ts";
import type { OpenInstruction } from "./next-action.ts";

/** Everything that can be prepared as a transaction. */
export const PREPARED_OPERATIONS = [
  "create_escrow",
  "release_escrow",
  "release_partial",
  "claim_refund",
  "cancel_escrow",
  "archive_escrow",
  "register_merchant",
  "rotate_attestor",
] as const;
/** One of `PREPARED_OPERATIONS`. */
export type PreparedOperation = (typeof PREPARED_OPERATIONS)[number];

/** Warnings that a prepared call can carry. The call works in spite of them. */
export const PREPARE_WARNINGS = [
  "merchant_account_has_delegate",
  "merchant_account_has_close_authority",
  "agent_account_has_delegate",
  "agent_account_has_close_authority",
  "signer_is_derived",
] as const;
/** One of `PREPARE_WARNINGS`. */
export type PrepareWarning = (typeof PREPARE_WARNINGS)[number];

/** Where a settlement pays one of its two sides. */
export type Payout = {
  readonly whose: "merchant" | "agent";
  readonly account: Address;
  /** Whether it is the account that the caller named, because the associated one cannot receive tokens. */
  readonly isFallback: boolean;
  /** Whether the instructions make it first, at the payer's cost. */
  readonly isCreated: boolean;
};

/** What a call costs, in lamports. */
export type LamportCost = {
  /** What the ledger takes for the transaction, priority fee included. */
  readonly fee: bigint;
  /** What the payer puts into accounts so that they exist. */
  readonly deposits: ReadonlyArray<{ readonly account: Address; readonly lamports: bigint }>;
  /** What the escrow's rent payer gets back at settlement, which may be this very call. */
  readonly returnedAtSettlement: bigint;
  /** What the escrow's rent payer gets back at archiving, which may be this very call. */
  readonly returnedAtArchiving: bigint;
  /** What is never returned: it stays in the escrow's account and in the accounts of others. */
  readonly kept: bigint;
};

/** The slot and the ledger's time at which an answer was read. */
export type ReadAt = { readonly slot: bigint; readonly ledgerTime: UnixSeconds };

/** Instructions that the ledger would take at the slot they were prepared at. */
export type PreparedCall = {
  readonly operation: PreparedOperation;
  /** In order, unsigned; `address` null stands for a payer that the caller did not name. */
  readonly instructions: ReadonlyArray<OpenInstruction>;
  /** Who must sign besides the payer. */
  readonly signers: ReadonlyArray<Address>;
  readonly payer: Address | null;
  readonly payouts: ReadonlyArray<Payout>;
  readonly warnings: ReadonlyArray<PrepareWarning>;
  readonly cost: LamportCost;
  /** The first second by the ledger's clock at which it is too late, null when there is none. */
  readonly until: UnixSeconds | null;
  readonly at: ReadAt;
};
