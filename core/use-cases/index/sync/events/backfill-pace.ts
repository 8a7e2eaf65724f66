/** Concurrent requests at the start, and at most. */
const FIRST = 4;
const MOST = 32;
/** Wait after a failure, milliseconds. It doubles with each further one, up to `MOST_WAIT_MS`. */
const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 60_000;

/**
 * How much of the node a backfill takes: a little more with each batch that succeeds, half as much after one that
 * fails. After each batch it rests for a quarter of the batch's time, so that other requests are not kept waiting.
 */
export class BackfillPace {
  /** How many requests may run at once. */
  atOnce = FIRST;
  #failures = 0;

  /** Records a batch that succeeded, and returns the rest after it, milliseconds. */
  succeeded(tookMs: number): number {
    this.#failures = 0;
    this.atOnce = Math.min(MOST, this.atOnce + 1);
    return tookMs / 4;
  }

  /** Records a batch that failed, and returns the wait before the next one, milliseconds. */
  failed(): number {
    this.atOnce = Math.max(1, Math.floor(this.atOnce / 2));
    const waitMs = Math.min(MOST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    this.#failures += 1;
    return waitMs;
  }
}
