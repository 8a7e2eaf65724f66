import { Clock, Context, Deferred, Effect, Exit, Ref, Semaphore } from "effect";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import type { StoreFault } from "../../../../ports/index/store-refusal.ts";
import type { SignalStanding, ToldTransaction } from "../../../../ports/ledger/ledger-signals.ts";
import { CallPurpose, type LedgerCallCount } from "../../../../ports/ledger/ledger-calls.ts";
import { LedgerLane } from "../../../../ports/ledger/ledger.ts";
import type {
  IndexContradiction,
  SyncMark,
  SyncProgress,
  SyncReport,
} from "../../../domain/index/sync-report.ts";
import type { PeerRecord } from "./archived/take-imports.ts";
import { backfillTransactions } from "./events/backfill-transactions.ts";
import { SyncMemory } from "./ledger/sync-memory.ts";
import {
  namedFailure,
  storeFaultOf,
  type SyncError,
  syncErrorOf,
  type SyncFailure,
} from "./sync-failure.ts";
import { syncIndex } from "./sync-index.ts";

/** Whether a sync runs, and how the last one ended. */
export type SyncActivity = {
  readonly running: boolean;
  /** What ended the last sync; null when it completed or none has run. */
  readonly lastError: SyncError | null;
  /** What is wrong with the store, where that ended the last sync; absent where it has not said so. */
  readonly storeFault?: StoreFault | undefined;
  /**
   * What ended the last snapshot: the first one, or a scan of all merchants; null when it completed or none was due.
   */
  readonly snapshotError: SyncError | null;
  /** How many such snapshots have failed since the last complete one. */
  readonly snapshotFailures: number;
  /** What keeps the index from following the ledger, once scans have shown it; null when nothing does. */
  readonly contradiction: IndexContradiction | null;
  /** How often accounts contradicted the ledger's root, since this process began. */
  readonly contradictedAnswers: number;
  /** How the answers of peers went that were asked for archived escrows, by name, since this process began. */
  readonly peers: ReadonlyMap<string, PeerRecord>;
  /** Whether some node keeps history, as far as a sync has found out. Without it, the index is kept up by scans. */
  readonly hasHistory: boolean;
  /** How the source of the ledger's signals stands; null where this process listens to none. */
  readonly signals: SignalStanding | null;
  /** The calls of nodes that another thread has made for the syncs; none where they run in this one. */
  readonly callsElsewhere: ReadonlyArray<LedgerCallCount>;
  /** How far the running sync has come; null when none runs or it is not known. */
  readonly progress: SyncProgress | null;
};

/** Runs syncs one at a time. */
export class IndexSync extends Context.Service<
  IndexSync,
  {
    /**
     * The report of a run that begins after the call. Runs after the current sync, so the caller's writes are included.
     * Concurrent callers share it.
     */
    readonly request: Effect.Effect<SyncReport, SyncFailure>;
    /** As `request`, with a snapshot: a scan of all merchants, or the build of the index. Fails when that fails. */
    readonly snapshot: Effect.Effect<SyncReport, SyncFailure>;
    /**
     * As `request`, for timers and hints: of an unchanged ledger one read is enough, which need not be of its newest
     * slot. Null when another replica runs the syncs.
     */
    readonly background: Effect.Effect<SyncReport | null, SyncFailure>;
    readonly activity: Effect.Effect<SyncActivity>;
    /** Lets this process's next sync know of a transaction that a history may not list. */
    readonly told: (transaction: ToldTransaction) => Effect.Effect<void>;
    /** Says from where this process's activity knows how its source of signals stands. */
    readonly listening: (standing: Effect.Effect<SignalStanding>) => Effect.Effect<void>;
  }
>()("settlement-evidence/core/use-cases/IndexSync") {}

/** How the syncs of a process differ. */
type IndexSyncOptions = {
  /** The interval of scans of all merchants, milliseconds; null for none. */
  readonly scanEveryMs?: number | null;
  /** Whether the transactions of many old events are searched beside the syncs. */
  readonly backfills?: boolean;
};

/**
 * The process's one `IndexSync`. Its runs end with the scope. `afterSync` runs within each sync, once the index is
 * complete to the mark.
 */
export const makeIndexSync = Effect.fnUntraced(function* (
  afterSync: (mark: SyncMark) => Effect.Effect<void> = () => Effect.void,
  { scanEveryMs = null, backfills = false }: IndexSyncOptions = {},
) {
  const scope = yield* Effect.scope;
  const context =
    yield* Effect.context<
      Effect.Services<ReturnType<typeof syncIndex> | ReturnType<typeof backfillTransactions>>
    >();
  const oneAtATime = yield* Semaphore.make(1);
  const activity = yield* Ref.make<Pick<SyncActivity, "running" | "lastError" | "storeFault">>({
    running: false,
    lastError: null,
  });
  const memory = new SyncMemory(scanEveryMs);
  let standing: Effect.Effect<SignalStanding | null> = Effect.succeed(null);
  let runs = 0;
  let backfill: "due" | "running" | "done" = backfills ? "due" : "done";

  /** Searches the transactions of old events beside the syncs, under the term of the sync that starts it. */
  const startBackfill = Effect.suspend(() => {
    if (backfill !== "due") return Effect.void;
    backfill = "running";
    return backfillTransactions().pipe(
      Effect.provideService(LedgerLane, "background"),
      Effect.provideService(CallPurpose, "sync"),
      Effect.matchCauseEffect({
        onSuccess: () => Effect.sync(() => void (backfill = "done")),
        onFailure: (cause) =>
          Effect.andThen(
            Effect.logDebug("the search for old transactions stopped; it goes on later", cause),
            Effect.sync(() => void (backfill = "due")),
          ),
      }),
      Effect.forkIn(scope),
    );
  });
  let isSnapshotAsked = false;
  let isAwaited = false;
  let waiting: Deferred.Deferred<SyncReport, SyncFailure> | null = null;

  const run = (outcome: Deferred.Deferred<SyncReport, SyncFailure>) =>
    oneAtATime.withPermit(
      Effect.gen(function* () {
        waiting = null;
        runs += 1;
        // A scan that began before it was asked for is not the one asked for.
        memory.snapshots.isDemanded = isSnapshotAsked;
        isSnapshotAsked = false;
        // After a failure the whole look finds out what is wrong.
        const isWhole = isAwaited || (yield* Ref.get(activity)).lastError !== null;
        isAwaited = false;
        yield* Ref.update(activity, (was) => ({ ...was, running: true }));
        const exit = yield* Effect.exit(
          syncIndex(runs, memory, afterSync, isWhole).pipe(
            Effect.mapError(namedFailure),
            Effect.provideService(LedgerLane, "background"),
            Effect.provideService(CallPurpose, "sync"),
          ),
        );
        yield* Ref.set(activity, {
          running: false,
          lastError: syncErrorOf(exit),
          ...storeFaultOf(exit),
        });
        if (Exit.isSuccess(exit)) {
          if (exit.value.mode === "snapshot" && backfills && backfill === "done") backfill = "due";
          yield* startBackfill;
        }
        yield* Deferred.done(outcome, exit);
      }),
    );

  const background = Effect.suspend(() => {
    if (waiting !== null) return Deferred.await(waiting);
    const outcome = Deferred.makeUnsafe<SyncReport, SyncFailure>();
    waiting = outcome;
    return run(outcome).pipe(
      Effect.provide(context),
      Effect.onInterrupt(() => Deferred.interrupt(outcome)),
      Effect.forkIn(scope),
      Effect.andThen(Deferred.await(outcome)),
    );
  });
  const request = Effect.suspend(() => {
    isAwaited = true;
    return background;
  });
  return IndexSync.of({
    request,
    snapshot: Effect.suspend(() => {
      isSnapshotAsked = true;
      return request;
    }),
    background,
    activity: Effect.gen(function* () {
      const now = yield* Ref.get(activity);
      return {
        ...now,
        signals: yield* standing,
        snapshotError: memory.snapshots.lastError,
        snapshotFailures: memory.snapshots.failures,
        contradiction: memory.contradiction,
        contradictedAnswers: memory.contradictedAnswers,
        peers: memory.peers.all,
        hasHistory: memory.hasHistory,
        callsElsewhere: [],
        progress: memory.progress,
      };
    }),
    told: (transaction) => Effect.sync(() => memory.told.add(transaction)),
    listening: (source) =>
      Effect.sync(() => {
        standing = source;
      }),
  });
});

/**
 * A snapshot of the last minute, milliseconds: every sync reads the 150 slots before its mark again, which cover it.
 */
const FRESH_MS = 60_000;

/**
 * The report of a sync that begins after the call; with `snapshot` it also scans all merchants, and fails when that
 * fails. A snapshot that was complete within the last minute is not repeated. Fails like the ledger or the store.
 */
export const requestSync = Effect.fn("requestSync")(function* (snapshot: boolean) {
  const sync = yield* IndexSync;
  if (!snapshot) return yield* sync.request;
  const { snapshotAtMs } = yield* IndexReader.use(({ summary }) => summary);
  const sinceMs = snapshotAtMs === null ? null : (yield* Clock.currentTimeMillis) - snapshotAtMs;
  const isFresh = sinceMs !== null && sinceMs >= 0 && sinceMs < FRESH_MS;
  return yield* isFresh ? sync.request : sync.snapshot;
});
