import type { SyncError } from "./sync-failure.ts";

/** Interval of scans, milliseconds. A scan finds what history missed. */
const EVERY_MS = 3_600_000;
/** Wait before a failed snapshot is tried again, milliseconds. It doubles with each failure, up to `EVERY_MS`. */
const FIRST_RETRY_MS = 60_000;
/** Interval of scans while no node keeps history, milliseconds. Without history, only a scan shows changes. */
const WITHOUT_HISTORY_MS = 60_000;

/**
 * When a scan of all merchants checks an index that follows their history. Nothing numbers merchants, so history alone
 * could lose one. Times are milliseconds of a monotonic clock. A failed scan delays only the next one.
 */
export class SnapshotSchedule {
  /** Failures since the last complete snapshot. */
  failures = 0;
  /** How the last snapshot failed; null when it completed or none was tried. */
  lastError: SyncError | null = null;
  /** Wait between the last snapshot and the next one, milliseconds. */
  waitMs = EVERY_MS;
  #dueMs: number | null = null;
  #completedMs: number | null = null;
  #isAsked = false;
  #askedMs: number | null = null;

  /** Whether a snapshot is due. The first call starts the first hour, because only a complete index is asked about. */
  isDue(nowMs: number): boolean {
    this.#dueMs ??= nowMs + EVERY_MS;
    return this.#isAsked || nowMs >= this.#dueMs;
  }

  /** Whether a snapshot is due of an index that follows no history: a minute after the last one, later after failures. */
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
    if (this.#askedMs !== null && nowMs - this.#askedMs < EVERY_MS) return;
    this.#askedMs = nowMs;
    this.ask();
  }

  /** Records a complete snapshot. */
  completed(nowMs: number): void {
    this.failures = 0;
    this.lastError = null;
    this.#completedMs = nowMs;
    this.#waitFrom(nowMs, EVERY_MS);
  }

  /** Records a failed snapshot. */
  failed(nowMs: number, error: SyncError): void {
    this.#waitFrom(nowMs, Math.min(EVERY_MS, FIRST_RETRY_MS * 2 ** this.failures));
    this.failures += 1;
    this.lastError = error;
  }

  #waitFrom(nowMs: number, waitMs: number): void {
    this.#isAsked = false;
    this.waitMs = waitMs;
    this.#dueMs = nowMs + waitMs;
  }
}
