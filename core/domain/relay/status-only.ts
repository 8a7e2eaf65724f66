import type { LandedTransaction } from "./transaction-outcome.ts";

/**
 * A landing as far as one node's status proves it: an error counts as `confirmed` at most. It is final only once the
 * relay's log holds it, because a false one would have the payment made twice.
 */
export const statusOnly = (landed: LandedTransaction): LandedTransaction =>
  landed.error !== null && landed.commitment === "finalized"
    ? { ...landed, commitment: "confirmed" }
    : landed;
