import { Deferred, Effect, Layer } from "effect";
import { IndexNews } from "../../ports/index/index-news.ts";

/** A reader of an index that only this process writes looks by itself this often, milliseconds. */
const LOOK_EVERY_MS = 250;

/** Hints within this process, for an index that no other process writes. */
export const indexNewsMemory: Layer.Layer<IndexNews> = Layer.sync(IndexNews, () => {
  let next = Deferred.makeUnsafe<void>();
  return {
    next: Effect.suspend(() => Deferred.await(next)),
    tell: Effect.sync(() => {
      const told = next;
      next = Deferred.makeUnsafe<void>();
      Deferred.doneUnsafe(told, Effect.void);
    }),
    lookEveryMs: Effect.succeed(LOOK_EVERY_MS),
  };
});
