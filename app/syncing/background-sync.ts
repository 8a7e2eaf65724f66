import { Duration, Effect, Queue, Schedule, Stream } from "effect";
import type { SyncReport } from "../../core/domain/index/sync-report.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { syncFailureCause } from "../../core/use-cases/index/sync/sync-failure.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { LedgerSignals } from "../../ports/ledger-signals.ts";

const ASK_AGAIN = Schedule.spaced(Duration.millis(100));

const changesOf = ({ escrows, merchants, eventsAdded }: SyncReport): number =>
  escrows.created + escrows.updated + merchants.created + merchants.updated + eventsAdded;

/**
 * Signals within this time count as one, because a transaction often touches both programs. A node tells of both at once.
 */
const DEBOUNCE = Duration.millis(20);

/**
 * Syncs once the store is open, then every `intervalSeconds`, and sooner when the ledger signals a change. Does nothing
 * when 0. A failure is logged as a warning once, until a sync succeeds again. When replicas share the index, only one
 * of them syncs.
 */
export const backgroundSync = Effect.fnUntraced(function* (intervalSeconds: number) {
  if (intervalSeconds === 0) return;
  const sync = yield* IndexSync;
  const index = yield* IndexReader;
  let failing = false;
  const once = sync.background.pipe(
    Effect.matchEffect({
      onSuccess: (report) => {
        if (report === null) return Effect.void;
        const recovered = failing;
        failing = false;
        const fields = {
          sync_id: report.id,
          slot: report.slot,
          changes: changesOf(report),
          rejected: report.rejected.length,
          duration_ms: report.durationMs,
        };
        return recovered || changesOf(report) > 0
          ? Effect.logInfo("the index is synced", fields)
          : Effect.logDebug("the index is up to date", fields);
      },
      onFailure: (failure) => {
        const known = failing;
        failing = true;
        const fields = { failure: failure._tag, cause: syncFailureCause(failure) };
        return known
          ? Effect.logDebug("the sync failed again", fields)
          : Effect.logWarning("the sync failed, and is tried again", fields);
      },
    }),
    // A bug that one state of the ledger triggers must not stop the syncs for ever.
    Effect.catchDefect((defect) => Effect.logError("a sync broke, and is tried again", defect)),
  );
  yield* Effect.orDie(Effect.retry(index.summary, ASK_AGAIN));
  const { changes } = yield* LedgerSignals;
  const signalled = yield* Queue.dropping<void>(1);
  yield* Effect.forkScoped(Stream.runForEach(changes, () => Queue.offer(signalled, undefined)));
  const wait = Effect.raceFirst(
    Effect.sleep(Duration.seconds(intervalSeconds)),
    Effect.andThen(Queue.take(signalled), Effect.sleep(DEBOUNCE)),
  );
  return yield* Effect.forever(Effect.andThen(once, wait));
});
