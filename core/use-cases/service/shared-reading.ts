import { Clock, Effect, type Exit, type Scope } from "effect";
import { makeSingleFlight } from "../single-flight.ts";

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
