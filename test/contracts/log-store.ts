import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import type { SignedSize } from "../../ports/log-store.ts";
import { escrowLives, eventCount, finalChanges, leavesAt } from "../arbitraries/index-history.ts";
import { anyHash32 } from "../arbitraries/ledger-values.ts";
import { type IndexLayer, onFreshIndexes } from "./fresh-index.ts";

const aSize: fc.Arbitrary<SignedSize> = fc.record({
  origin: fc.constantFrom("a.example/log/0011223344556677/1", "a.example/log/0011223344556677/2"),
  size: fc.bigInt({ min: 1n, max: 2n ** 40n }),
  root: anyHash32,
});

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

    test("a tile is kept once, and its first bytes stay", () =>
      withIndex(({ log }) =>
        Effect.gen(function* () {
          const path = "tile/entries/x001/234";
          expect(yield* log.tile(path)).toBeNull();
          const bytes = Uint8Array.from({ length: 17_408 }, (_, at) => at % 251);
          yield* log.keepTiles([
            { path, bytes },
            { path: "tile/1/000", bytes: new Uint8Array(8192).fill(1) },
          ]);
          yield* log.keepTiles([{ path, bytes: new Uint8Array(8192).fill(2) }]);
          expect(yield* log.tile(path)).toEqual(bytes);
          expect(yield* log.tile("tile/1/000")).toEqual(new Uint8Array(8192).fill(1));
          expect(yield* log.tile("tile/0/x001/234")).toBeNull();
        }),
      ));

    test("what was signed last is replaced only by one who knows it", () =>
      holds(fc.array(fc.tuple(aSize, aSize, fc.boolean()), { maxLength: 6 }), ({ log }, attempts) =>
        Effect.gen(function* () {
          let known: SignedSize | null = null;
          expect(yield* log.signed).toBeNull();
          for (const [next, other, knows] of attempts) {
            const before: SignedSize | null = knows ? known : other;
            expect(yield* log.sign(before, next)).toBe(knows);
            known = knows ? next : known;
            expect(yield* log.signed).toEqual(known);
          }
        }),
      ));
  });
};
