import { Clock, Effect } from "effect";

/** Milliseconds of a monotonic clock. Cool-downs must not change when the wall clock is set. */
export const monotonicMs: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
);
