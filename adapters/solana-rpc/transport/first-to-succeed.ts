import { Deferred, Effect, Exit } from "effect";

/**
 * Runs all effects to their end and succeeds with the first success; the others continue in the background. When all
 * fail, it fails like the first for which `tells` holds, or else like the first.
 */
export const firstToSucceed = <A, E>(
  all: ReadonlyArray<Effect.Effect<A, E>>,
  tells: (failure: E) => boolean,
): Effect.Effect<A, E> =>
  Effect.gen(function* () {
    const outcome = yield* Deferred.make<A, E>();
    const failed: Array<Exit.Failure<A, E>> = [];
    const telling = (exit: Exit.Exit<A, E>): boolean => {
      const failure = Exit.findErrorOption(exit);
      return failure._tag === "Some" && tells(failure.value);
    };
    for (const each of all) {
      yield* each.pipe(
        Effect.exit,
        Effect.tap((exit) => {
          if (Exit.isSuccess(exit)) return Deferred.done(outcome, exit);
          failed.push(exit);
          if (failed.length < all.length) return Effect.void;
          return Deferred.done(outcome, failed.find(telling) ?? failed[0] ?? exit);
        }),
        Effect.forkDetach,
      );
    }
    return yield* Deferred.await(outcome);
  });
