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

/** An action that an escrow allows now. */
export type NextAction = {
  readonly action: "release_escrow" | "claim_refund";
  /** Who may act: the holder of an attestation by the merchant's attestor, or anyone. */
  readonly by: "holder_of_attestation" | "anyone";
  /**
   * What must be obtained first: an attestation, or an account of the agent that can be paid. Null when nothing is
   * missing.
   */
  readonly awaiting: (typeof AWAITED)[number] | null;
  /** The first second at which the action is too late, null without a limit. */
  readonly until: UnixSeconds | null;
  /** Complete, unsigned instructions in order; empty while something is missing. */
  readonly instructions: ReadonlyArray<OpenInstruction>;
};
