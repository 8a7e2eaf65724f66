/**
 * Signals within this time count as one, because a transaction often touches both programs. A node tells of both at once.
 * Milliseconds.
 */
const LEAST_MS = 20;
/** The distance after a sync that a signal caused and that found nothing, milliseconds: a slot's length. */
const FIRST_MS = 400;
const MOST_MS = 10_000;

/**
 * The least distance between syncs that signals cause. Anybody can cause signals, by transactions that name a program
 * and change nothing: while they do, the distance doubles up to ten seconds. Times are milliseconds of a monotonic clock.
 */
export class SignalDistance {
  #distanceMs = LEAST_MS;
  #endedMs = Number.NEGATIVE_INFINITY;

  /** Records the end of a sync that a signal caused, and whether it found a change. */
  ended(nowMs: number, foundSomething: boolean): void {
    this.#endedMs = nowMs;
    if (foundSomething) this.#distanceMs = LEAST_MS;
    else this.#distanceMs = Math.min(MOST_MS, Math.max(FIRST_MS, this.#distanceMs * 2));
  }

  /** How long the next signal waits, at least 20 milliseconds. */
  waitMs(nowMs: number): number {
    return Math.max(LEAST_MS, this.#endedMs + this.#distanceMs - nowMs);
  }
}
