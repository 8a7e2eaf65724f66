import type { AccountRole } from "../ledger/instruction.ts";
import type { Address } from "../address.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** An instruction whose fee payer is left open: `address` null stands for whoever sends it. */
export type OpenInstruction = {
  readonly programAddress: Address;
  readonly accounts: ReadonlyArray<{
    readonly address: Address | null;
    readonly role: AccountRole;
  }>;
  readonly data: Uint8Array;
};

/** What an action can await. */
export const AWAITED = ["attestation", "payout_account"] as const;

/** Something that can be done with an escrow now. */
export type NextAction = {
  readonly action: "release_escrow" | "claim_refund";
  /** Who may do it: whoever holds an attestation by the merchant's attestor, or anyone at all. */
  readonly by: "holder_of_attestation" | "anyone";
  /** What must be obtained first, null when nothing: an attestation, or an account of the agent's that can be paid. */
  readonly awaiting: (typeof AWAITED)[number] | null;
  /** The first second at which it is too late, null when there is none. */
  readonly until: UnixSeconds | null;
  /** Ready, unsigned instructions in order; empty while something is awaited. */
  readonly instructions: ReadonlyArray<OpenInstruction>;
};
