import { Deferred, Effect, type Scope } from "effect";

/**
 * Runs what has the same name once at a time: a caller that comes while it runs gets the running one's
 * result. A run belongs to the scope: it goes on when the caller that began it leaves, and when all have left. Effect's
 * `Cache` interrupts it then, and a transaction would be left half sent.
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
