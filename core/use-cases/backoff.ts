import { Effect, Random } from "effect";

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
