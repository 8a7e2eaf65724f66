import { Context, Effect, type Scope, Stream } from "effect";
import type { SyncMark } from "../../core/domain/index/sync-report.ts";
import type { ScannedAccounts } from "../ledger/ledger.ts";

/** The events that a snapshot is proved against, and the slot at or after which its accounts are read. */
export type SnapshotTip = Pick<SyncMark, "count" | "frontier" | "slot" | "ledgerTime">;

/** One scan of one kind: the how-manieth scan of the snapshot, from 1, and the kind's place in the list, from 0. */
export type SpoolPlace = { readonly scan: number; readonly kind: number };

/** Where a snapshot goes on: at a place, after a cursor of its scan or from its beginning. */
export type SpoolPosition = SpoolPlace & { readonly after: string | null };

/** What a snapshot has fetched so far, kept outside the process. Losing it costs requests, never rows. */
export type SnapshotSpool = {
  /** The tip of the snapshot whose accounts are kept: an earlier process's, or the caller's. */
  readonly tip: SnapshotTip;
  /** The accounts that an earlier process kept, as they came. To be read whole, once, before anything is added. */
  readonly kept: Stream.Stream<ScannedAccounts & SpoolPlace>;
  /** Where the scans go on, after `kept` was read. */
  readonly position: Effect.Effect<SpoolPosition>;
  /** Keeps a chunk. One with `next` is durable, with all before it. */
  readonly add: (place: SpoolPlace, chunk: ScannedAccounts) => Effect.Effect<void>;
  /** Notes that a scan of a kind is complete. */
  readonly ended: (place: SpoolPlace) => Effect.Effect<void>;
  /** Forgets everything. */
  readonly clear: Effect.Effect<void>;
};

/** Where the first scan of the first kind begins. */
export const FIRST_POSITION: SpoolPosition = { scan: 1, kind: 0, after: null };

/** A spool that keeps nothing. */
export const emptySpool = (tip: SnapshotTip): SnapshotSpool => ({
  tip,
  kept: Stream.empty,
  position: Effect.succeed(FIRST_POSITION),
  add: () => Effect.void,
  ended: () => Effect.void,
  clear: Effect.void,
});

/**
 * Opens the spool of the snapshot that is under way. An earlier one of this ledger is continued when `isUsable` holds
 * for its tip; otherwise a new one begins at `tip`. Failures of the medium are logged, and end the keeping.
 */
export class OpenSnapshotSpool extends Context.Service<
  OpenSnapshotSpool,
  (
    tip: SnapshotTip,
    isUsable: (kept: SnapshotTip) => boolean,
  ) => Effect.Effect<SnapshotSpool, never, Scope.Scope>
>()("settlement-evidence/ports/OpenSnapshotSpool") {}
