import type { Lane } from "../../../ports/ledger/ledger.ts";

/** The time over which requests are counted, milliseconds. Public nodes count over 10 seconds. */
const WINDOW_MS = 10_000;
/** How long a limit is believed after the node last refused a request for it, milliseconds. */
const BELIEVED_MS = 60_000;
/** The share of a known limit that background work may use. The rest stays free for callers. */
const BACKGROUND_SHARE = 0.8;
/** How much later than callers background work returns to a method that was closed, milliseconds. */
const YIELD_MS = 250;
/** The most requests counted for one method. A node that takes more in a window needs no pacing. */
const MOST_COUNTED = 2_000;

/** One method's requests at one node. Times are milliseconds of a monotonic clock. */
type Paced = {
  /** When the requests of the last window were sent, oldest first. */
  sentMs: Array<number>;
  closedUntilMs: number;
  /** How many requests the node took in one window when it last refused one, null before. */
  limit: number | null;
  limitedMs: number;
  /** Closings in a row, without an answer in between. */
  refusals: number;
};

/**
 * How fast one node may be asked, method by method, learned from its refusals (HTTP 429). A refusal closes its own
 * method and no other.
 */
export class MethodPace {
  readonly #methods = new Map<string, Paced>();

  /** The earliest time at which a request may be sent; `nowMs` or before when it may be sent now. */
  opensMs(method: string, lane: Lane, nowMs: number): number {
    const paced = this.#methods.get(method);
    if (paced === undefined) return nowMs;
    if (lane === "live") return paced.closedUntilMs;
    const openMs = paced.closedUntilMs === 0 ? 0 : paced.closedUntilMs + YIELD_MS;
    const { limit, sentMs, limitedMs } = paced;
    if (limit === null || nowMs - limitedMs > BELIEVED_MS) return openMs;
    this.#forget(paced, nowMs);
    const share = Math.max(1, Math.floor(limit * BACKGROUND_SHARE));
    const oldest = sentMs[sentMs.length - share];
    return oldest === undefined ? openMs : Math.max(openMs, oldest + WINDOW_MS);
  }

  /** Records that a request is sent. */
  sent(method: string, nowMs: number): void {
    const paced = this.#paced(method);
    this.#forget(paced, nowMs);
    paced.sentMs.push(nowMs);
    if (paced.sentMs.length > MOST_COUNTED) paced.sentMs.shift();
  }

  /** Records that the node answered a request. */
  answered(method: string): void {
    const paced = this.#methods.get(method);
    if (paced !== undefined) paced.refusals = 0;
  }

  /**
   * Closes a method that the node refused: for as long as the node says, or else for `ownMs`, which is told how often
   * it was closed in a row. True when it was open.
   */
  refused(
    method: string,
    retryAfterMs: number | null,
    nowMs: number,
    ownMs: (refusals: number) => number,
  ): boolean {
    const paced = this.#paced(method);
    this.#forget(paced, nowMs);
    // The node did not take the refused request, so it does not count.
    paced.sentMs.pop();
    // A node that says when to return counts requests in a window.
    if (retryAfterMs !== null && retryAfterMs > 0) {
      paced.limit = Math.max(1, paced.sentMs.length);
      paced.limitedMs = nowMs;
    }
    const wasOpen = paced.closedUntilMs <= nowMs;
    if (wasOpen) paced.refusals += 1;
    const closedMs =
      retryAfterMs !== null && retryAfterMs > 0
        ? retryAfterMs
        : wasOpen
          ? ownMs(paced.refusals)
          : 0;
    paced.closedUntilMs = Math.max(paced.closedUntilMs, nowMs + closedMs);
    return wasOpen;
  }

  #paced(method: string): Paced {
    const existing = this.#methods.get(method);
    if (existing !== undefined) return existing;
    const paced = { sentMs: [], closedUntilMs: 0, limit: null, limitedMs: 0, refusals: 0 };
    this.#methods.set(method, paced);
    return paced;
  }

  #forget(paced: Paced, nowMs: number): void {
    const { sentMs } = paced;
    const kept = sentMs.findIndex((ms) => ms > nowMs - WINDOW_MS);
    if (kept !== 0) sentMs.splice(0, kept < 0 ? sentMs.length : kept);
  }
}
