import type { SyncError } from "./sync-failure.ts";

/** A snapshot at least so often, milliseconds: what history failed to tell is found then. */
const EVERY_MS = 3_600_000;
/** One that failed is tried again after so long, doubled with each further failure up to `EVERY_MS`. */
const FIRST_RETRY_MS = 60_000;

/**
 * When an index that follows the ledger's history is checked by a snapshot. Times are milliseconds of a monotonic clock.
 * A snapshot that fails puts off the next one and nothing else.
 */
export class SnapshotSchedule {
  /** How many have failed since the last that completed. */
  failures = 0;
  /** How the last one failed, null when it completed or none has been tried. */
  lastError: SyncError | null = null;
  /** How long the last one puts off the next, milliseconds. */
  waitMs = EVERY_MS;
  #dueMs: number | null = null;

  /** Whether one is due. The first question begins the first hour: an index that is asked about is complete. */
  isDue(nowMs: number): boolean {
    this.#dueMs ??= nowMs + EVERY_MS;
    return nowMs >= this.#dueMs;
  }

  /** Notes one that completed. */
  completed(nowMs: number): void {
    this.failures = 0;
    this.lastError = null;
    this.#waitFrom(nowMs, EVERY_MS);
  }

  /** Notes one that failed. */
  failed(nowMs: number, error: SyncError): void {
    this.#waitFrom(nowMs, Math.min(EVERY_MS, FIRST_RETRY_MS * 2 ** this.failures));
    this.failures += 1;
    this.lastError = error;
  }

  #waitFrom(nowMs: number, waitMs: number): void {
    this.waitMs = waitMs;
    this.#dueMs = nowMs + waitMs;
  }
}
