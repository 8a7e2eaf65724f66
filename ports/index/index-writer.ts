import { Context, type Effect, type Scope } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import type { EventReference } from "../../core/domain/index/settlement-event.ts";
import type { SyncMark } from "../../core/domain/index/sync-report.ts";
import type { Merchant } from "../../core/domain/merchant/merchant.ts";
import type { StoreUnavailable } from "./store-refusal.ts";

/** A row and the slot at which the ledger showed it. */
export type Observed<T> = { readonly row: T; readonly slot: bigint };

/**
 * Row changes that the core has decided on (`core/use-cases/index/sync`). A store puts them as they are. Rows of
 * escrows are identified by `createdSeq`, those of merchants by address, transactions by the event's position.
 */
export type IndexChanges = {
  /** The count of the mark on which the changes were decided; null before the first mark. */
  readonly from: bigint | null;
  /** New rows, and rows that replace a Pending or an unseen one. In ascending order of `createdSeq`. */
  readonly escrows: ReadonlyArray<IndexedEscrow>;
  /** New rows, and rows that replace a Pending one or an unseen Pending one. */
  readonly unseen: ReadonlyArray<UnseenEscrow>;
  readonly merchants: ReadonlyArray<Observed<Merchant>>;
  /** Transactions of events; one that is known already stays. */
  readonly transactions: ReadonlyArray<EventReference>;
  /** Null leaves the store's mark. */
  readonly mark: SyncMark | null;
  /**
   * When a scan of all merchants was complete, unix milliseconds; without it the store's time of the last snapshot
   * stays.
   */
  readonly snapshotAtMs?: number;
};

/** Takes the leaves of all events in ascending order of their numbers, each once or more often. */
export type LeafSink = (seq: bigint, leaf: Uint8Array) => void;

/** A snapshot on its way into a store. What it has written is not shown before `finish`. */
export type IndexBuild = {
  /**
   * Adds rows in any order. The same row may come again. Of the rows with one number a settled one stays, and then one
   * with all its fields.
   */
  readonly add: (
    rows: Pick<IndexChanges, "escrows" | "unseen" | "merchants">,
  ) => Effect.Effect<void, StoreUnavailable>;
  /** Shows `sink` the leaves of all rows added so far, in ascending order. More rows may be added afterwards. */
  readonly leaves: (sink: LeafSink) => Effect.Effect<void, StoreUnavailable>;
  /**
   * Replaces what the store holds by the added rows, and completes it at a mark, whose time is that of the last
   * snapshot. After a failure the store is as it was, or empty; never does it show rows of both.
   */
  readonly finish: (mark: SyncMark) => Effect.Effect<void, StoreUnavailable>;
};

/** The writes of the persistent index of one ledger. */
export class IndexWriter extends Context.Service<
  IndexWriter,
  {
    /**
     * Applies changes whole or not at all. Fails as retryable, with nothing applied, when the store's mark is not
     * `from`: another process has written.
     */
    readonly apply: (changes: IndexChanges) => Effect.Effect<void, StoreUnavailable>;
    /** The stored ones of at most 1000 merchants with their slots, in any order. */
    readonly merchantsAt: (
      addresses: ReadonlyArray<Address>,
    ) => Effect.Effect<ReadonlyArray<Observed<Merchant>>, StoreUnavailable>;
    /** At most `limit` unseen escrows with a `createdSeq` above `after`, ascending. */
    readonly unseen: (
      limit: number,
      after: bigint,
    ) => Effect.Effect<ReadonlyArray<UnseenEscrow>, StoreUnavailable>;
    /**
     * Begins a snapshot beside what the store holds. One that is given up before `finish` leaves the store as it was.
     */
    readonly build: Effect.Effect<IndexBuild, StoreUnavailable, Scope.Scope>;
  }
>()("settlement-evidence/ports/IndexWriter") {}

/** How far the search for the transactions of old events has come. */
export type BackfillCheckpoint = {
  /** `archive` goes from the oldest transaction to the newest, `history` from the newest to the oldest. */
  readonly way: "archive" | "history";
  /** Where it goes on: a provider's cursor, or a signature; null at the beginning. */
  readonly cursor: string | null;
  /** Whether it has reached the end. */
  readonly isDone: boolean;
};

/** Where a search begins: an archive is tried first. */
export const FIRST_CHECKPOINT: BackfillCheckpoint = { way: "archive", cursor: null, isDone: false };

/** Keeps one checkpoint of the ledger that the index is of. Losing it costs requests, never rows. */
export class BackfillCheckpoints extends Context.Service<
  BackfillCheckpoints,
  {
    /** Null without one. */
    readonly load: Effect.Effect<BackfillCheckpoint | null>;
    readonly save: (checkpoint: BackfillCheckpoint) => Effect.Effect<void>;
  }
>()("settlement-evidence/ports/BackfillCheckpoints") {}
