/** The ledger's time in milliseconds since the Unix epoch; never goes back. */
export type LedgerTime = { readonly nowMs: () => number };

/**
 * Wall time that starts no earlier than `notBeforeMs` and never goes back: when the machine's clock is
 * set back, time goes on by the monotonic clock; when the machine slept, it catches up at once.
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

/** Time that moves only when told to: for the genesis, whose demo escrows live and expire in the past, and for tests. */
export const manualTime = (startMs: number) => {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    /** Moves `ms` milliseconds ahead, at least 0. */
    advance: (ms: number) => {
      nowMs += Math.max(0, ms);
    },
  };
};
