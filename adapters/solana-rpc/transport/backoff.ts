import { Effect, Random } from "effect";

/**
 * Milliseconds to wait after the n-th failure in a row (n from 1): `baseMs` doubled for each failure
 * before it, at most `capMs`, of which a random share in [1/2, 1) is taken so that callers who failed
 * together do not come back together.
 */
export const backoffMs = (failures: number, baseMs: number, capMs: number): Effect.Effect<number> =>
  Effect.map(
    Random.next,
    (random) => Math.min(capMs, baseMs * 2 ** Math.min(failures - 1, 52)) * (0.5 + random / 2),
  );
