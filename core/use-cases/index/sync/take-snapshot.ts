import { Effect, Exit } from "effect";
import { monotonicMs } from "../../monotonic-time.ts";
import type { SnapshotSchedule } from "./snapshot-schedule.ts";
import { syncErrorOf, type SyncFailure, syncFailureCause } from "./sync-failure.ts";

/** Runs a snapshot and returns its result. The schedule records how it ended, unless it was interrupted. */
export const takeSnapshot = <A, R>(
  schedule: SnapshotSchedule,
  snapshot: Effect.Effect<A, SyncFailure, R>,
): Effect.Effect<A, SyncFailure, R> =>
  Effect.onExit(snapshot, (exit) =>
    Effect.map(monotonicMs, (nowMs) => {
      if (Exit.isSuccess(exit)) return schedule.completed(nowMs);
      const error = syncErrorOf(exit);
      if (error !== null) schedule.failed(nowMs, error);
    }),
  );

/**
 * As `takeSnapshot`, but logs a failure and returns null: the index is complete without this scan. A defect stays a
 * defect.
 */
export const tryPeriodicSnapshot = <A, R>(
  schedule: SnapshotSchedule,
  snapshot: Effect.Effect<A, SyncFailure, R>,
): Effect.Effect<A | null, never, R> =>
  takeSnapshot(schedule, snapshot).pipe(
    Effect.catch((failure) =>
      Effect.as(
        Effect.logWarning(
          "the periodic scan of merchants failed; the index continues by changes alone",
          {
            failure: failure._tag,
            cause: syncFailureCause(failure),
            failures: schedule.failures,
            again_in_seconds: schedule.waitMs / 1000,
          },
        ),
        null,
      ),
    ),
  );
