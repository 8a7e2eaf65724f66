import { Effect } from "effect";
import { backoffMs } from "./backoff.ts";
import { monotonicMs } from "./monotonic-time.ts";

const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 60_000;
/** A connection that lasted this long counts as good. */
const STEADY_MS = 60_000;

/** How a connection ended. */
export type Lost<A> = {
  readonly reason: A;
  /** Connections in a row that did not last, this one included; 1 after one that lasted. */
  readonly failures: number;
  /** Whole milliseconds until the next one. */
  readonly pauseMs: number;
};

/** Connects again whenever a connection ends, for ever, and waits longer each time one does not last. `lost` is told of each end. */
export const reconnect = Effect.fnUntraced(function* <A, R, S>(
  connection: Effect.Effect<A, never, R>,
  lost: (end: Lost<A>) => Effect.Effect<void, never, S>,
) {
  let failures = 0;
  for (;;) {
    const startMs = yield* monotonicMs;
    const reason = yield* connection;
    failures = (yield* monotonicMs) - startMs >= STEADY_MS ? 1 : failures + 1;
    const pauseMs = yield* backoffMs(failures, BACKOFF_BASE_MS, BACKOFF_CAP_MS);
    yield* lost({ reason, failures, pauseMs: Math.round(pauseMs) });
    yield* Effect.sleep(pauseMs);
  }
});
