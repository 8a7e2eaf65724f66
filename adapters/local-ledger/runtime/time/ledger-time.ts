/** The ledger's time in milliseconds since the Unix epoch. It never goes back. */
export type LedgerTime = { readonly nowMs: () => number };

/**
 * Wall time that starts no earlier than `notBeforeMs` and never goes back. When the machine's clock is set back, time
 * continues by the monotonic clock. When the machine slept, it catches up at once.
 */
export const wallTime = (notBeforeMs: number): LedgerTime => {
  let lastMs = Math.max(notBeforeMs, Date.now());
  let lastMonotonicMs = performance.now();
  return {
    nowMs: () => {
      const monotonicMs = performance.now();
      lastMs = Math.max(lastMs + (monotonicMs - lastMonotonicMs), Date.now());
      lastMonotonicMs = monotonicMs;
      return lastMs;
    },
  };
};

/** Time that moves only on `advance`: for tests, and for the genesis, whose demo escrows live in the past. */
export const manualTime = (startMs: number) => {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    /** Moves time ahead by `ms` milliseconds, at least 0. */
    advance: (ms: number) => {
      nowMs += Math.max(0, ms);
    },
  };
};
