import { Clock, Deferred, Effect, type Exit, type Scope } from "effect";

/** Milliseconds of a monotonic clock. Durations must not change when the wall clock is set. */
export const monotonicMs: Effect.Effect<number> = Effect.map(
  Clock.monotonicTimeNanos,
  (nanos) => Number(nanos) / 1e6,
);

/**
 * Runs one effect per name at a time. A caller that comes while it runs gets the same result. The run belongs to the
 * scope and goes on even when every caller has left. Effect's `Cache` would interrupt it then and leave a transaction
 * half sent.
 */
export const makeSingleFlight = <A, E>(scope: Scope.Scope) => {
  const running = new Map<string, Deferred.Deferred<A, E>>();
  return <R>(name: string, run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const other = running.get(name);
      if (other !== undefined) return Deferred.await(other);
      const outcome = Deferred.makeUnsafe<A, E>();
      running.set(name, outcome);
      return run.pipe(
        Effect.onExit((exit) =>
          Effect.suspend(() => {
            running.delete(name);
            return Deferred.done(outcome, exit);
          }),
        ),
        Effect.forkIn(scope),
        Effect.andThen(Deferred.await(outcome)),
      );
    });
};

/**
 * An effect that returns an outcome of `read` that is at most `freshMs` old. A caller that comes during a
 * read waits for its outcome. A failure is kept like a value. A caller that leaves does not stop the read, which
 * belongs to the scope.
 */
export const sharedReading = <A, E, R>(
  scope: Scope.Scope,
  freshMs: number,
  read: Effect.Effect<A, E, R>,
): Effect.Effect<A, E, R> => {
  const flight = makeSingleFlight<A, E>(scope);
  let kept: { readonly outcome: Exit.Exit<A, E>; readonly atMs: number } | null = null;
  const keep = (outcome: Exit.Exit<A, E>) =>
    Effect.map(Clock.currentTimeMillis, (atMs) => {
      kept = { outcome, atMs };
    });
  return Effect.gen(function* () {
    const ageMs = kept === null ? Infinity : (yield* Clock.currentTimeMillis) - kept.atMs;
    // The clock may have been set back.
    if (kept !== null && ageMs >= 0 && ageMs < freshMs) return yield* kept.outcome;
    return yield* flight("", Effect.onExit(read, keep));
  });
};
