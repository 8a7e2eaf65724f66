import type { ClientClock } from "../../../client/service/requests.ts";

/** A clock whose pauses take no time and move it on; deadlines of tries never come unless `isLate` says so. */
export const testClock = (startMs = 1_800_000_000_000) => {
  let now = startMs;
  const pauses: Array<number> = [];
  /** A try's deadline is the only pause of this length. */
  const TRY_MS = 45_000;
  let isLate = false;
  const clock: ClientClock = {
    nowMs: () => now,
    pause: async (ms, signal) => {
      signal?.throwIfAborted();
      if (ms === TRY_MS && !isLate)
        return new Promise((_, reject) =>
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
        );
      pauses.push(ms);
      now += ms;
      await Promise.resolve();
      signal?.throwIfAborted();
    },
  };
  return {
    clock,
    /** Every pause, milliseconds. */
    pauses: pauses as ReadonlyArray<number>,
    /** Moves the time on. */
    pass: (ms: number) => {
      now += ms;
    },
    /** Lets each deadline come at once. */
    beLate: () => {
      isLate = true;
    },
  };
};
