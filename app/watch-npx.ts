import { Deferred, Effect } from "effect";
import { onNpxEnd } from "../client/command-line/npx-launcher.ts";

/**
 * Finds the npx that started this process and returns an effect that completes when it has ended; without one it never
 * completes.
 */
export const watchNpx: Effect.Effect<Effect.Effect<void>> = Effect.gen(function* () {
  const ended = yield* Deferred.make<void>();
  yield* Effect.promise(() => onNpxEnd(() => Deferred.doneUnsafe(ended, Effect.void)));
  return Deferred.await(ended);
});
