import { Effect, Random } from "effect";
import { monotonicMs } from "./single-flight.ts";

/**
 * Milliseconds to wait after the n-th failure in a row (n from 1): `baseMs`, doubled with each failure, at most
 * `capMs`. The result is a random share in [1/2, 1) of that, so that callers that failed together do not retry
 * together.
 */
export const backoffMs = (failures: number, baseMs: number, capMs: number): Effect.Effect<number> =>
  Effect.map(
    Random.next,
    (random) => Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 52)) * (0.5 + random / 2),
  );

const BACKOFF_BASE_MS = 500;
const BACKOFF_CAP_MS = 60_000;
/** A connection that lasted this long counts as good. */
const STEADY_MS = 60_000;

/** How a connection ended. */
type Lost<A> = {
  readonly reason: A;
  /** Short connections in a row, this one included. 1 when this connection lasted long. */
  readonly failures: number;
  /** Whole milliseconds until the next one. */
  readonly pauseMs: number;
};

/**
 * Connects again, for ever, whenever a connection ends. The pause doubles with each short connection in a row. Calls
 * `lost` at each end.
 */
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
