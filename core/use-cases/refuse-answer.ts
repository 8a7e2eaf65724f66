import { Effect } from "effect";
import { LedgerUnavailable } from "../../ports/ledger.ts";

/** A node's answer that contradicts what is known: it says something of the node, nothing of the ledger. */
export const untrustworthy = (cause: string): LedgerUnavailable =>
  new LedgerUnavailable({ retryable: true, cause });

/** Fails when an answer is of a slot below `notBefore`: such a node lags, and its answer is never merged. */
export const refuseOlder = (slot: bigint, notBefore: bigint) =>
  slot < notBefore
    ? Effect.fail(untrustworthy(`answer of slot ${slot} is older than what is known, ${notBefore}`))
    : Effect.void;
