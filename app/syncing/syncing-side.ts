import { Clock, Deferred, Duration, Effect, Layer, Queue, Schedule, Stream } from "effect";
import {
  backfillCheckpointFile,
  importedPacketFiles,
  rebuildApprovalFile,
} from "../../adapters/files/operator-files.ts";
import { snapshotSpoolFile } from "../../adapters/files/snapshot-spool.ts";
import { archivePeersHttp } from "../../adapters/log-http/log-http.ts";
import type { SyncMark, SyncReport } from "../../core/domain/index/sync-report.ts";
import { SignalDistance } from "../../core/use-cases/index/sync/signal-distance.ts";
import { IndexSync, makeIndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { syncFailureCause } from "../../core/use-cases/index/sync/sync-failure.ts";
import { NewsHearing } from "../../core/use-cases/news-hearing.ts";
import { monotonicMs } from "../../core/use-cases/single-flight.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { SyncEpoch } from "../../ports/index/sync-lease.ts";
import { LedgerSignals, type SignalStanding } from "../../ports/ledger/ledger-signals.ts";
import {
  backfillPath,
  deploymentOf,
  snapshotPath,
  type StartedInstance,
} from "../lifecycle/started-instance.ts";
import { signalsOfLedger } from "../lifecycle/signals-of-ledger.ts";

/** How far the index is complete, and the term of the lease under which that was written. */
export type GrownMark = { readonly mark: SyncMark; readonly epoch: bigint };

const ASK_AGAIN = Schedule.spaced(Duration.millis(100));

/** Between two looks whether the syncs of a shared index have become this replica's. */
const LOOK_AGAIN = Duration.seconds(1);

const changesOf = ({ escrows, merchants, eventsAdded }: SyncReport): number =>
  escrows.created + escrows.updated + merchants.created + merchants.updated + eventsAdded;

/**
 * Whether the source of signals stays silent while the ledger changes: a sync by interval found what no signal has told
 * of. What a sync finds that a signal caused was told.
 */
const signalHearing = (standing: Effect.Effect<SignalStanding>) => {
  const hearing = new NewsHearing();
  let wasSilent = false;
  let isWarned = false;
  const now = Effect.map(standing, (source) => ({
    ...source,
    isSilent: source.isLive && (source.isSilent || hearing.isContradicted),
  }));
  return {
    standing: now,
    /** Notes a completed sync, and warns when a second one by interval finds the source silent. */
    synced: Effect.fnUntraced(function* ({ count }: SyncReport, isSignalled: boolean) {
      const mark = count.toString();
      if (isSignalled) hearing.told(mark);
      hearing.looked(mark, yield* Clock.currentTimeMillis);
      const { isSilent } = yield* now;
      // A signal may come just after the sync that it is late for.
      if (isSilent && wasSilent && !isWarned)
        yield* Effect.logWarning(
          "the source of the ledger's signals is connected and tells of nothing; syncs go on by interval. Check SOLANA_WS_URL or YELLOWSTONE_URL",
        );
      isWarned = isSilent && wasSilent;
      wasSilent = isSilent;
    }),
  };
};

/**
 * Syncs once the store is open, then every `intervalSeconds`, and sooner when the ledger signals a change, though not
 * sooner than `SignalDistance` says. Does nothing when 0. A failure is logged as a warning once, until a sync succeeds
 * again. When replicas share the index, only one of them syncs, and another one begins as soon as it takes over.
 */
export const backgroundSync = Effect.fnUntraced(function* (intervalSeconds: number) {
  if (intervalSeconds === 0) return;
  const sync = yield* IndexSync;
  const index = yield* IndexReader;
  const distance = new SignalDistance();
  const { changes, standing } = yield* LedgerSignals;
  const hearing = signalHearing(standing);
  let failing = false;
  let foundSomething = false;
  let isElsewhere = false;
  let isSignalled = false;
  const once = sync.background.pipe(
    Effect.matchEffect({
      onSuccess: (report) => {
        foundSomething = report !== null && changesOf(report) > 0;
        isElsewhere = report === null;
        if (report === null) return Effect.void;
        const recovered = failing;
        failing = false;
        const noted = hearing.synced(report, isSignalled);
        const fields = {
          sync_id: report.id,
          slot: report.slot,
          changes: changesOf(report),
          rejected: report.rejected.length,
          duration_ms: report.durationMs,
        };
        return Effect.andThen(
          noted,
          recovered || changesOf(report) > 0
            ? Effect.logInfo("the index is synced", fields)
            : Effect.logDebug("the index is up to date", fields),
        );
      },
      onFailure: (failure) => {
        const hasFailedBefore = failing;
        failing = true;
        foundSomething = false;
        isElsewhere = false;
        const fields = { failure: failure._tag, cause: syncFailureCause(failure) };
        return hasFailedBefore
          ? Effect.logDebug("the sync failed again", fields)
          : Effect.logWarning("the sync failed, and is tried again", fields);
      },
    }),
    // A bug that one state of the ledger triggers must not stop the syncs for ever.
    Effect.catchDefect((defect) => Effect.logError("a sync broke, and is tried again", defect)),
  );
  yield* Effect.orDie(Effect.retry(index.summary, ASK_AGAIN));
  yield* sync.listening(hearing.standing);
  const signalled = yield* Queue.dropping<void>(1);
  yield* Effect.forkScoped(
    Stream.runForEach(changes, (signal) =>
      Effect.andThen(
        signal === null ? Effect.void : sync.told(signal),
        Queue.offer(signalled, undefined),
      ),
    ),
  );
  const byInterval = Effect.suspend(() =>
    Effect.as(Effect.sleep(isElsewhere ? LOOK_AGAIN : Duration.seconds(intervalSeconds)), false),
  );
  const bySignal = Effect.gen(function* () {
    yield* Queue.take(signalled);
    yield* Effect.sleep(Duration.millis(distance.waitMs(yield* monotonicMs)));
    // Whatever was signalled while it waited is part of the same sync.
    yield* Queue.clear(signalled);
    return true;
  });
  for (;;) {
    yield* once;
    if (isSignalled) distance.ended(yield* monotonicMs, foundSomething);
    isSignalled = yield* Effect.raceFirst(byInterval, bySignal);
  }
});

/**
 * What writes the index, where the stores' writers are: the one process or worker that syncs. `tell` learns of each
 * completed sync.
 */
export const syncingSide = (started: StartedInstance, tell: (grown: GrownMark) => void) => {
  const { dataDir, settings } = started;
  const seconds = settings.scanEverySeconds;
  const kept = Layer.mergeAll(
    rebuildApprovalFile(dataDir),
    snapshotSpoolFile(snapshotPath(dataDir), deploymentOf(settings), settings.workers > 1),
    backfillCheckpointFile(backfillPath(dataDir), deploymentOf(settings)),
    importedPacketFiles(dataDir),
    archivePeersHttp(settings.archivePeers),
  );
  return Layer.effect(
    IndexSync,
    makeIndexSync((mark) => Effect.map(SyncEpoch, (epoch) => tell({ mark, epoch })), {
      scanEveryMs: seconds === 0 ? null : seconds * 1000,
      backfills: true,
    }),
  ).pipe(Layer.provide(kept));
};

/** Runs what the syncing side does by itself, until it is interrupted. What ends it completes `refused`. */
export const runSyncingSide = <E>(started: StartedInstance, refused: Deferred.Deferred<never, E>) =>
  backgroundSync(started.settings.syncIntervalSeconds).pipe(
    Effect.provide(signalsOfLedger(started)),
    Effect.catchCause((cause) => Deferred.failCause(refused, cause)),
  );
