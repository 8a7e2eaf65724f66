import { Context, type Effect } from "effect";
import type { SyncReport } from "../core/domain/index/sync-report.ts";
import type { StoreUnavailable } from "./escrow-index.ts";
import type { LedgerFailure } from "./ledger.ts";

/**
 * Under which term of the lease the running fiber writes to the index: an index that replicas share
 * checks it inside each batch's transaction, and refuses the batch once a later term has begun. 0 is
 * for an index that no replica ever took a lease on.
 */
export const SyncEpoch = Context.Reference<bigint>("settlement-evidence/ports/SyncEpoch", {
  defaultValue: () => 0n,
});

/** One replica's time as the one that syncs. */
export type SyncTerm = {
  /** From 1, greater with each new term. */
  readonly epoch: bigint;
  /** How many syncs have been asked for so far, and up to which of them they have been answered. */
  readonly asked: bigint;
  readonly answered: bigint;
};

/** How a sync ended, as every replica is told. */
export type SyncOutcome =
  | { readonly report: SyncReport }
  | { readonly failure: LedgerFailure | StoreUnavailable };

/**
 * Which of several replicas that share an index syncs it, and how the others have a sync made. A lease is
 * held for a short time and renewed well within it, so that a replica that dies or hangs is succeeded
 * without anybody noticing its end; time is the store's own.
 */
export class SyncLease extends Context.Service<
  SyncLease,
  {
    /** Takes the lease where it is free and renews it where it is this replica's; null while another holds it. */
    readonly hold: Effect.Effect<SyncTerm | null, StoreUnavailable>;
    /** Gives up the lease, if it is this replica's. */
    readonly release: Effect.Effect<void, StoreUnavailable>;
    /** Asks whoever holds the lease for a sync, and returns the request's number, from 1. */
    readonly ask: Effect.Effect<bigint, StoreUnavailable>;
    /** Tells how a sync ended that began when `asked` requests had been made; no more once a later term has begun. */
    readonly answer: (
      term: SyncTerm,
      outcome: SyncOutcome,
    ) => Effect.Effect<void, StoreUnavailable>;
    /** How a sync ended that began after the request with this number was made; null before that. */
    readonly answerTo: (request: bigint) => Effect.Effect<SyncOutcome | null, StoreUnavailable>;
    /** Completes when somebody has asked or answered since the call. A hint: it can stay away. */
    readonly news: Effect.Effect<void>;
  }
>()("settlement-evidence/ports/SyncLease") {}
