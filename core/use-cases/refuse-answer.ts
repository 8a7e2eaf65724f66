import { Effect } from "effect";
import { LedgerUnavailable } from "../../ports/ledger/ledger.ts";

/**
 * The failure for an answer that contradicts known facts. It is a fault of the node and tells nothing about the ledger.
 */
export const untrustworthy = (cause: string): LedgerUnavailable =>
  new LedgerUnavailable({ retryable: true, cause });

/** Fails for an answer of a slot below `notBefore`. Such a node is behind, and its answer must not be merged. */
export const refuseOlder = (slot: bigint, notBefore: bigint) =>
  slot < notBefore
    ? Effect.fail(untrustworthy(`answer of slot ${slot} is older than what is known, ${notBefore}`))
    : Effect.void;
