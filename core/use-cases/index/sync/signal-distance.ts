/**
 * Signals within this time count as one, because a transaction often touches both programs. A node tells of both at
 * once. Milliseconds.
 */
const LEAST_MS = 20;
/** The distance after a sync that a signal caused and that found nothing, milliseconds: a slot's length. */
const FIRST_MS = 400;
const MOST_MS = 10_000;

/**
 * The least distance between syncs that signals cause. Anybody can cause signals, by transactions that name a program
 * and change nothing: while they do, the distance doubles up to ten seconds. Times are milliseconds of a monotonic
 * clock.
 */
export class SignalDistance {
  #distanceMs: number;
  #endedMs = Number.NEGATIVE_INFINITY;
  readonly #leastMs: number;
  readonly #mostMs: number;

  /** A distance that is `leastMs` while syncs find something, and at most `mostMs`. */
  constructor(leastMs = LEAST_MS, mostMs = MOST_MS) {
    this.#leastMs = leastMs;
    this.#mostMs = mostMs;
    this.#distanceMs = leastMs;
  }

  /** Whether the last sync that a signal caused found nothing. */
  get isWary(): boolean {
    return this.#distanceMs > this.#leastMs;
  }

  /** Records the end of a sync that a signal caused, and whether it found a change. */
  ended(nowMs: number, foundSomething: boolean): void {
    this.#endedMs = nowMs;
    if (foundSomething) this.#distanceMs = this.#leastMs;
    else this.#distanceMs = Math.min(this.#mostMs, Math.max(FIRST_MS, this.#distanceMs * 2));
  }

  /** How long the next signal waits, at least the least distance. */
  waitMs(nowMs: number): number {
    return Math.max(this.#leastMs, this.#endedMs + this.#distanceMs - nowMs);
  }
}
