import type { Address } from "../address.ts";
import type { AccountRole } from "../ledger/instruction.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** An instruction without a fee payer: `address` null stands for the sender. */
export type OpenInstruction = {
  readonly programAddress: Address;
  readonly accounts: ReadonlyArray<{
    readonly address: Address | null;
    readonly role: AccountRole;
  }>;
  readonly data: Uint8Array;
};

/** What an action may wait for. */
export const AWAITED = ["attestation", "attestation_and_voucher", "payout_account"] as const;

/** Every action, and the prepare operation that gives its instructions. */
export const NEXT_ACTIONS = {
  capture: "capture",
  release_escrow: "release",
  cancel_escrow: "cancel",
  close_session: "close",
  claim_refund: "refund",
  return_rent: "rent",
  archive_escrow: "archive",
} as const;
/** The name of an action in `NEXT_ACTIONS`. */
export type NextActionName = keyof typeof NEXT_ACTIONS;

/** Everyone who can take an action. */
export const NEXT_ACTION_PARTIES = [
  "holder_of_attestation",
  "merchant_wallet",
  "agent_wallet",
  "anyone",
] as const;

/** Something that can be done with an escrow now. */
export type NextAction = {
  readonly escrow: Address;
  readonly action: NextActionName;
  /** Who may do it: whoever holds an attestation by the escrow's attestor, the merchant's wallet, the agent's, or anyone at all. */
  readonly by: (typeof NEXT_ACTION_PARTIES)[number];
  /**
   * What must be obtained first, null when nothing: an attestation, with a voucher for a session, or a token account of the agent that can
   * receive tokens.
   */
  readonly awaiting: (typeof AWAITED)[number] | null;
  /** The first second at which the action is too late, null without a limit. */
  readonly until: UnixSeconds | null;
  /** The unsigned instructions of a refund and of a return of rent, in order. Empty while something is awaited, and for every other action. */
  readonly instructions: ReadonlyArray<OpenInstruction>;
};

/** Everything that can be prepared as a transaction. */
export const PREPARED_OPERATIONS = [
  "create_escrow",
  "capture",
  "release_escrow",
  "cancel_escrow",
  "close_session",
  "claim_refund",
  "return_rent",
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
  /** What the escrow's rent payer gets back by `return_rent` once the escrow is settled and its vault closed, which may be in this very call. */
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
