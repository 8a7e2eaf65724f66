import type { LiveEscrow } from "../../generated/contract.ts";

/** What an escrow waits for, as a line of `merchant watch`. */
export type Awaited = {
  /**
   * `attestation`: deliver and attest before `expires_at`. `cancellation`: its attestor's key was revoked, so only cancelling ends it early.
   * `refund`: too late, anyone may send it back. `nothing`: it is settled.
   */
  readonly awaits: "attestation" | "cancellation" | "refund" | "nothing";
  readonly escrow: string;
  readonly state: LiveEscrow["state"];
  readonly agent_owner: string;
  readonly mint: string;
  readonly symbol: string | null;
  /** Base units, decimal. */
  readonly amount_stroops: string;
  readonly released_stroops: string;
  readonly refunded_stroops: string;
  readonly task_hash: string;
  /** The only key that can release it. */
  readonly attestor: string;
  readonly created_at: string;
  readonly expires_at: string;
};

const awaits = ({ state, next_actions }: LiveEscrow): Awaited["awaits"] => {
  if (state !== "Pending") return "nothing";
  const can = (action: string) => next_actions.some((each) => each.action === action);
  if (can("release_escrow")) return "attestation";
  return can("cancel_escrow") ? "cancellation" : "refund";
};

/** What an escrow waits for, out of its live record. */
export const awaitedOf = (record: LiveEscrow): Awaited => ({
  awaits: awaits(record),
  escrow: record.escrow_pda,
  state: record.state,
  agent_owner: record.agent_owner,
  mint: record.mint,
  symbol: record.symbol,
  amount_stroops: record.amount_stroops,
  released_stroops: record.released_stroops,
  refunded_stroops: record.refunded_stroops,
  task_hash: record.task_hash,
  attestor: record.attestor,
  created_at: record.created_at,
  expires_at: record.expires_at,
});
