import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import { escrowLives, eventCount, finalChanges, leavesAt } from "../arbitraries/index-history.ts";
import { worldOf } from "../core/use-cases/log/publishing-world.ts";
import { type IndexLayer, onFreshIndexes } from "./fresh-index.ts";

/**
 * Texts of any characters, few of them so that some are equal, and some as long as a checkpoint with a hundred
 * cosignatures.
 */
const aStanding = fc.oneof(
  fc.constantFrom("{}", '{"size":1}'),
  fc.string({ unit: "grapheme", minLength: 1 }),
  fc.nat(100).map((times) => "— witness.example Zm9v\n".repeat(times + 1)),
);

/** What every index must do as the log's store; see `indexStoreContract`. */
export const logStoreContract = <E>(name: string, fresh: () => IndexLayer<E>, numRuns: number) => {
  const { withIndex, holds } = onFreshIndexes(fresh, numRuns);

  describe(`${name} is a log's store`, () => {
    test("the leaves from any number on, at most as many as asked for", () =>
      holds(
        fc.tuple(escrowLives(8), fc.bigInt({ min: 1n, max: 20n }), fc.integer({ min: 1, max: 20 })),
        ({ writer, log }, [lives, from, limit]) =>
          Effect.gen(function* () {
            yield* writer.apply(finalChanges(lives));
            const all = leavesAt(lives, eventCount(lives));
            const first = Number(from) - 1;
            expect(yield* log.leaves(from, limit)).toEqual(all.slice(first, first + limit));
          }),
      ));

    test("a tile is kept until other bytes of its path replace it", () =>
      withIndex(({ log }) =>
        Effect.gen(function* () {
          const path = "1/tile/entries/x001/234";
          expect(yield* log.tile(path)).toBeNull();
          const bytes = Uint8Array.from({ length: 17_408 }, (_, at) => at % 251);
          const above = { path: "1/tile/1/000", bytes: new Uint8Array(8192).fill(1) };
          yield* log.keepTiles([{ path, bytes: new Uint8Array(8192).fill(2) }, above]);
          expect(yield* log.tile(path)).toEqual(new Uint8Array(8192).fill(2));
          yield* log.keepTiles([{ path, bytes }]);
          expect(yield* log.tile(path)).toEqual(bytes);
          expect(yield* log.tile(above.path)).toEqual(above.bytes);
          expect(yield* log.tile("1/tile/0/x001/234")).toBeNull();
          expect(yield* log.tile("2/tile/1/000")).toBeNull();
        }),
      ));

    test("the keys of a log are rotated and the log ended over it, by one process after another", () =>
      withIndex(({ log }) =>
        Effect.promise(async () => {
          const world = worldOf(6);
          [world.store, world.isRemote, world.fileOf] = [log, true, 1];
          await world.publish();
          world.nextSeed = 2;
          await world.publish();
          const both = await Effect.runPromise(world.standing);
          expect(both?.nextKey).not.toBeNull();
          [world.seed, world.nextSeed] = [2, null];
          await world.publish();
          world.endOrdered = both?.signed.origin ?? null;
          await world.publish();
          world.grow(2);
          await world.publish();
          expect(await Effect.runPromise(world.standing)).toMatchObject({
            signed: { size: 7, isLast: true },
            publicKey: both?.nextKey ?? "",
            nextKey: null,
            retiredKeys: [both?.publicKey ?? ""],
            ended: "its operator ended it",
          });
        }),
      ));

    test("the standing is replaced only by one who knows it", () =>
      holds(
        fc.array(fc.tuple(aStanding, aStanding, fc.boolean()), { maxLength: 6 }),
        ({ log }, attempts) =>
          Effect.gen(function* () {
            let known: string | null = null;
            expect(yield* log.standing).toBeNull();
            for (const [next, other, knows] of attempts) {
              const before: string | null = knows ? known : other;
              const replaces = before === known;
              expect(yield* log.replaceStanding(before, next)).toBe(replaces);
              if (replaces) known = next;
              expect(yield* log.standing).toBe(known);
            }
          }),
      ));
  });
};
