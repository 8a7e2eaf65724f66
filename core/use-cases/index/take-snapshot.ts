import { Effect, Exit } from "effect";
import { monotonicMs } from "../monotonic-time.ts";
import type { SnapshotSchedule } from "./snapshot-schedule.ts";
import { syncErrorOf, type SyncFailure, syncFailureCause } from "./sync-failure.ts";

/** What a snapshot gives. The schedule notes how it ends, unless it is interrupted. */
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
 * As `takeSnapshot`, and null when it fails; the log then tells why. For a snapshot of an index that is complete
 * without. A defect stays one.
 */
export const tryPeriodicSnapshot = <A, R>(
  schedule: SnapshotSchedule,
  snapshot: Effect.Effect<A, SyncFailure, R>,
): Effect.Effect<A | null, never, R> =>
  takeSnapshot(schedule, snapshot).pipe(
    Effect.catch((failure) =>
      Effect.as(
        Effect.logWarning("the periodic snapshot failed; the index goes on by changes alone", {
          failure: failure._tag,
          cause: syncFailureCause(failure),
          failures: schedule.failures,
          again_in_seconds: schedule.waitMs / 1000,
        }),
        null,
      ),
    ),
  );
