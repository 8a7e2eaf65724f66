import { expect, test } from "bun:test";
import { Effect } from "effect";
import type { LogPublisher } from "../../../core/use-cases/log/log-publisher.ts";
import type { Index } from "../../contracts/fresh-index.ts";
import { worldOf } from "../../core/use-cases/log/publishing-world.ts";
import { soundly, withWitnesses } from "../../core/use-cases/log/test-witness.ts";
import { dumpsOf, freshSchema, withStore } from "./test-database.ts";

/** A world of 60 events over the store in a schema, with two witnesses that must both cosign. */
const loggedWorld = (url: URL) => {
  const world = worldOf(60);
  const witnesses = withWitnesses(world, [soundly, soundly], "two", [
    { name: "two", threshold: 2, members: ["w0.example", "w1.example"] },
  ]);
  world.isRemote = true;
  /** Runs a process of its own, with the store open while it runs. */
  const live = (work: (publisher: LogPublisher["Service"]) => Effect.Effect<void, unknown>) =>
    Effect.runPromise(
      withStore(url, ({ log }: Index) =>
        Effect.promise(async () => {
          world.store = log;
          expect(await world.run(work)).toBeNull();
        }),
      ),
    );
  const publish = (...counts: ReadonlyArray<number>) =>
    live(({ grown }) =>
      Effect.forEach(counts, (count) => Effect.andThen(grown(world.mark(count)), world.pass(10)), {
        discard: true,
      }),
    );
  return { world, witnesses, live, publish };
};

/** Has a log sign to 51 and takes its database back to a dump of before, of size 21. */
const restoredWorld = Effect.fnUntraced(function* (url: URL) {
  const { keep, restore } = yield* dumpsOf(url);
  const logged = loggedWorld(url);
  yield* Effect.promise(() => logged.publish(20));
  yield* keep;
  const keyFiles = [...logged.world.keyFiles];
  yield* Effect.promise(() => logged.publish(50));
  yield* restore;
  return { ...logged, keyFiles };
});

test("a database and a data directory of before stop the log (witnesses_ahead) until its tree is the witnesses'", () =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { world, witnesses, live, keyFiles } = yield* restoredWorld(freshSchema());
        for (const [key, text] of keyFiles) world.keyFiles.set(key, text);
        const before = world.signed.length;
        yield* Effect.promise(() =>
          live(({ grown, status }) =>
            Effect.gen(function* () {
              expect(yield* world.publishedSize).toBe(21);
              yield* grown(world.mark(30));
              yield* world.pass(10);
              for (const count of [40, 49]) {
                yield* grown(world.mark(count));
                yield* world.pass(10);
                expect(yield* status).toMatchObject({ hindrance: "witnesses_ahead" });
              }
              // The first offer tells it.
              expect(new Set(world.signed.slice(before).map(({ size }) => size))).toEqual(
                new Set([31]),
              );
              expect(yield* world.publishedSize).toBe(21);
              yield* grown(world.mark(60));
              yield* world.pass(10);
              expect(yield* status).toMatchObject({ hindrance: null });
              expect(yield* world.publishedSize).toBe(61);
            }),
          ),
        );
        expect(witnesses.map(({ size }) => size)).toEqual([61, 61]);
      }),
    ),
  ));

test("a database of before signs nothing until it has come to what stands beside the key", () =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const { world, live } = yield* restoredWorld(freshSchema());
        const before = world.signed.length;
        yield* Effect.promise(() =>
          live(({ grown, status }) =>
            Effect.gen(function* () {
              yield* grown(world.mark(30));
              yield* world.pass(10);
              expect(yield* status).toMatchObject({ hindrance: "signed_size_not_derived_yet" });
              expect(world.signed.length).toBe(before);
              yield* grown(world.mark(60));
              yield* world.pass(10);
              expect(yield* status).toMatchObject({ hindrance: null });
              expect(yield* world.publishedSize).toBe(61);
            }),
          ),
        );
      }),
    ),
  ));
