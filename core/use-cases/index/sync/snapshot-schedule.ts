import { Effect, Exit } from "effect";
import { monotonicMs } from "../../single-flight.ts";
import { type SyncError, syncErrorOf, type SyncFailure, syncFailureCause } from "./sync-failure.ts";

/** Wait before a failed snapshot is tried again, milliseconds. It doubles with each failure, up to `MOST_RETRY_MS`. */
const FIRST_RETRY_MS = 60_000;
const MOST_RETRY_MS = 3_600_000;
/** The least time between two scans that doubts ask for, milliseconds. */
const ASK_EVERY_MS = 3_600_000;
/** Interval of scans while no node keeps history, milliseconds. Without history, only a scan shows changes. */
const WITHOUT_HISTORY_MS = 60_000;

/**
 * When a scan of all merchants checks an index that follows their history. Escrows never need one: their count and root
 * tell what is missing. Without an interval there is one only when it is asked for. Times are milliseconds of a
 * monotonic clock. A failed scan delays only the next one.
 */
export class SnapshotSchedule {
  /** Failures since the last complete snapshot. */
  failures = 0;
  /** How the last snapshot failed; null when it completed or none was tried. */
  lastError: SyncError | null = null;
  /** Wait between the last snapshot and the next one, milliseconds. */
  waitMs: number;
  /** Whether somebody waits for a snapshot of the running sync, which then fails without one. */
  isDemanded = false;
  readonly #everyMs: number | null;
  #dueMs: number | null = null;
  #completedMs: number | null = null;
  #isAsked = false;
  #askedMs: number | null = null;

  /** `everyMs` is the interval of scans, milliseconds; null for none. */
  constructor(everyMs: number | null = null) {
    this.#everyMs = everyMs;
    this.waitMs = everyMs ?? Number.POSITIVE_INFINITY;
  }

  /**
   * Whether a snapshot is due. The first call starts the first interval: callers ask only once the index is complete.
   */
  isDue(nowMs: number): boolean {
    if (this.#isAsked || this.isDemanded) return true;
    if (this.#everyMs === null && this.failures === 0) return false;
    this.#dueMs ??= nowMs + (this.#everyMs ?? 0);
    return nowMs >= this.#dueMs;
  }

  /**
   * Whether a snapshot is due of an index that follows no history: a minute after the last one, later after failures.
   */
  isDueWithoutHistory(nowMs: number): boolean {
    if (this.isDue(nowMs)) return true;
    return (
      this.failures === 0 &&
      (this.#completedMs === null || nowMs - this.#completedMs >= WITHOUT_HISTORY_MS)
    );
  }

  /** Makes the next snapshot due at once. */
  ask(): void {
    this.#isAsked = true;
  }

  /** As `ask`, unless that was called within the last hour. */
  askOnceAnHour(nowMs: number): void {
    if (this.#askedMs !== null && nowMs - this.#askedMs < ASK_EVERY_MS) return;
    this.#askedMs = nowMs;
    this.ask();
  }

  /** Records a complete snapshot. */
  completed(nowMs: number): void {
    this.failures = 0;
    this.lastError = null;
    this.#completedMs = nowMs;
    this.#waitFrom(nowMs, this.#everyMs ?? Number.POSITIVE_INFINITY);
  }

  /** Records a failed snapshot. */
  failed(nowMs: number, error: SyncError): void {
    const most = Math.min(MOST_RETRY_MS, this.#everyMs ?? MOST_RETRY_MS);
    this.#waitFrom(nowMs, Math.min(most, FIRST_RETRY_MS * 2 ** this.failures));
    this.failures += 1;
    this.lastError = error;
  }

  #waitFrom(nowMs: number, waitMs: number): void {
    this.#isAsked = false;
    this.isDemanded = false;
    this.waitMs = waitMs;
    this.#dueMs = nowMs + waitMs;
  }
}

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
