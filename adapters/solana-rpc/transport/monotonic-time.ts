import { Clock, Effect } from "effect";

/** Now, in milliseconds of a monotonic clock: cool-downs must not follow the wall clock when it is set. */
export const monotonicMs: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
);
