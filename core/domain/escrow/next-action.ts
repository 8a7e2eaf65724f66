import type { AccountRole } from "../ledger/instruction.ts";
import type { Address } from "../address.ts";
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
export const AWAITED = ["attestation", "payout_account"] as const;

/** Every action, and the prepare operation that gives its instructions. */
export const NEXT_ACTIONS = {
  release_escrow: "release",
  cancel_escrow: "cancel",
  claim_refund: "refund",
  archive_escrow: "archive",
} as const;
/** The name of an action in `NEXT_ACTIONS`. */
export type NextActionName = keyof typeof NEXT_ACTIONS;

/** Everyone who can take an action. */
export const NEXT_ACTION_PARTIES = ["holder_of_attestation", "merchant_wallet", "anyone"] as const;

/** Something that can be done with an escrow now. */
export type NextAction = {
  readonly escrow: Address;
  readonly action: NextActionName;
  /** Who may do it: whoever holds an attestation by the escrow's attestor, the merchant's wallet, or anyone at all. */
  readonly by: (typeof NEXT_ACTION_PARTIES)[number];
  /** What must be obtained first, null when nothing: an attestation, or a token account of the agent that can receive tokens. */
  readonly awaiting: (typeof AWAITED)[number] | null;
  /** The first second at which the action is too late, null without a limit. */
  readonly until: UnixSeconds | null;
  /** The unsigned instructions of a refund, in order. Empty while something is awaited, and for every other action. */
  readonly instructions: ReadonlyArray<OpenInstruction>;
};
