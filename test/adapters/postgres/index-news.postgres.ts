import { expect, test } from "bun:test";
import { Effect, Fiber, Layer } from "effect";
import { indexNewsPostgres } from "../../../adapters/postgres/index-news.ts";
import { IndexNews } from "../../../ports/index/index-news.ts";
import { freshSchema, storeAt } from "./test-database.ts";

/** The hints of two replicas of a schema, each with connections of its own. */
const two = (program: (one: News, other: News) => Effect.Effect<void>) => {
  const url = freshSchema();
  const replica = Effect.gen(function* () {
    const layer = indexNewsPostgres.pipe(Layer.provide(storeAt(url)));
    return yield* Effect.provide(IndexNews, yield* Layer.build(layer));
  });
  return Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* program(yield* replica, yield* replica);
      }),
    ),
  );
};

type News = typeof IndexNews.Service;

test("a hint of one replica reaches the others, which then look by themselves less often", () =>
  two((one, other) =>
    Effect.gen(function* () {
      const heard = yield* Effect.forkChild(other.next, { startImmediately: true });
      // The subscription may still be on its way: told until it is heard.
      yield* Effect.raceFirst(
        Effect.forever(Effect.andThen(one.tell, Effect.sleep("20 millis"))),
        Fiber.join(heard),
      );
      expect(yield* other.lookEveryMs).toBe(250);
    }),
  ));
