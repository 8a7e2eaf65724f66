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
export type PreparedOperation = (typeof PREPARED_OPERATIONS)[number];

/** What a prepared call should make its caller think about; the call works all the same. */
export const PREPARE_WARNINGS = [
  "merchant_account_has_delegate",
  "merchant_account_has_close_authority",
  "agent_account_has_delegate",
  "agent_account_has_close_authority",
  "signer_is_derived",
] as const;
export type PrepareWarning = (typeof PREPARE_WARNINGS)[number];

/** Where a settlement pays one of its two sides. */
export type Payout = {
  readonly whose: "merchant" | "agent";
  readonly account: Address;
  /** Whether it is the account the caller named, since the associated one cannot be paid. */
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
  /** What the escrow's rent payer gets back when the escrow settles: in this call where the call settles it. */
  readonly returnedAtSettlement: bigint;
  /** What the escrow's rent payer gets back when the escrow is archived: in this call where the call archives it. */
  readonly returnedAtArchiving: bigint;
  /** What stays in the escrow's address for ever, and in accounts that belong to others. */
  readonly kept: bigint;
};

/** The place on the ledger that an answer follows from. */
export type ReadAt = { readonly slot: bigint; readonly ledgerTime: UnixSeconds };

/** Instructions that the ledger would take at the slot they were prepared at. */
export type PreparedCall = {
  readonly operation: PreparedOperation;
  /** In order, unsigned; the payer is left open where nobody named one. */
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
