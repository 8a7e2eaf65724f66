import { expect, test } from "bun:test";
import { Deferred, Effect, Exit, Fiber, Scope } from "effect";
import { makeSingleFlight } from "../../../core/use-cases/single-flight.ts";

/** A single flight with a scope of its own. Its runs wait until `gate` has an outcome. */
const flights = Effect.gen(function* () {
  const scope = yield* Scope.make();
  const gate = yield* Deferred.make<string, "refused">();
  const seen = { begun: 0, ended: [] as Array<string> };
  const once = makeSingleFlight<string, "refused">(scope);
  const run = Effect.suspend(() => {
    seen.begun += 1;
    return Deferred.await(gate);
  }).pipe(Effect.onExit((exit) => Effect.sync(() => seen.ended.push(exit._tag))));
  // A run begins on the next turn of the event loop.
  const begin = (name: string) =>
    Effect.forkChild(once(name, run), { startImmediately: true }).pipe(
      Effect.tap(() => Effect.yieldNow),
    );
  return { scope, gate, seen, begin };
});

test("callers of one name share a run and its failure; the next caller starts another", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { gate, seen, begin } = yield* flights;
      const [one, other, stranger] = [yield* begin("a"), yield* begin("a"), yield* begin("b")];
      expect(seen.begun).toBe(2);
      yield* Deferred.fail(gate, "refused");
      for (const caller of [one, other, stranger])
        expect(yield* Effect.flip(Fiber.join(caller))).toBe("refused");
      yield* Effect.flip(Fiber.join(yield* begin("a")));
      expect(seen.begun).toBe(3);
    }),
  ));

test("a run continues when its first caller leaves, with or without others waiting", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { gate, seen, begin } = yield* flights;
      const [first, other, only] = [yield* begin("a"), yield* begin("a"), yield* begin("b")];
      yield* Fiber.interrupt(first);
      yield* Fiber.interrupt(only);
      expect(seen.ended).toEqual([]);
      const late = yield* begin("b");
      expect(seen.begun).toBe(2);
      yield* Deferred.succeed(gate, "landed");
      expect([yield* Fiber.join(other), yield* Fiber.join(late)]).toEqual(["landed", "landed"]);
      expect(seen.ended).toEqual(["Success", "Success"]);
    }),
  ));

test("runs end with the scope", () =>
  Effect.runPromise(
    Effect.gen(function* () {
      const { scope, seen, begin } = yield* flights;
      const caller = yield* begin("a");
      yield* Scope.close(scope, Exit.void);
      expect(seen.ended).toEqual(["Failure"]);
      expect((yield* Fiber.await(caller))._tag).toBe("Failure");
    }),
  ));
