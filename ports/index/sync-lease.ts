import { Context, type Effect } from "effect";
import type { SyncReport } from "../../core/domain/index/sync-report.ts";
import type { SlotBeyondReach } from "./index-news.ts";
import type { StoreUnavailable } from "./store-refusal.ts";
import type { LedgerFailure } from "../ledger/ledger.ts";

/**
 * The term of the lease under which the running fiber writes to the index. A shared index checks it inside each batch's
 * transaction, and refuses the batch once a later term has begun. 0 means that there is no lease.
 */
export const SyncEpoch = Context.Reference<bigint>("settlement-evidence/ports/SyncEpoch", {
  defaultValue: () => 0n,
});

/** One replica's term as the holder of the lease. */
export type SyncTerm = {
  /** Starts at 1 and grows with each term. */
  readonly epoch: bigint;
  /** How many syncs have been requested, and how many of these requests are answered. */
  readonly asked: bigint;
  readonly answered: bigint;
  /** The number of the last request that asked for a snapshot, 0 for none. */
  readonly snapshotAsked: bigint;
};

/** The result of a sync, as every replica gets it. */
export type SyncOutcome =
  | { readonly report: SyncReport }
  | { readonly failure: LedgerFailure | SlotBeyondReach | StoreUnavailable };

/**
 * Decides which of several replicas that share an index syncs it, and carries the others' requests. A lease is short
 * and renewed early, so that a replica that dies or hangs soon has a successor. Time is the store's own.
 */
export class SyncLease extends Context.Service<
  SyncLease,
  {
    /** Takes the lease if it is free, or renews this replica's own. Null while another replica holds it. */
    readonly hold: Effect.Effect<SyncTerm | null, StoreUnavailable>;
    /** Releases this replica's lease. */
    readonly release: Effect.Effect<void, StoreUnavailable>;
    /** Requests a sync from the holder, with a snapshot or without, and returns the request's number, from 1. */
    readonly ask: (kind: "sync" | "snapshot") => Effect.Effect<bigint, StoreUnavailable>;
    /** Answers all requests up to `asked` with a sync's result. Does nothing once a later term has begun. */
    readonly answer: (
      term: SyncTerm,
      outcome: SyncOutcome,
    ) => Effect.Effect<void, StoreUnavailable>;
    /** The result of a sync that began after this request, null before there is one. */
    readonly answerTo: (request: bigint) => Effect.Effect<SyncOutcome | null, StoreUnavailable>;
    /** Completes when a request or an answer has come since the call. A hint: it may be missed. */
    readonly news: Effect.Effect<void>;
  }
>()("settlement-evidence/ports/SyncLease") {}
