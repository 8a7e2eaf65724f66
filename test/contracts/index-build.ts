import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import { indexMemory } from "../../adapters/memory/index-store.ts";
import type { IndexedEscrow } from "../../core/domain/index/indexed-escrow.ts";
import { leavesOfIndexed } from "../../core/log/leaf/indexed-leaves.ts";
import { projectAt, projectUnseenAt } from "../../core/log/leaf/escrow-rows.ts";
import type { IndexBuild } from "../../ports/index/index-writer.ts";
import {
  anyMerchant,
  changesOf,
  escrowLives,
  eventCount,
  finalChanges,
  indexedOf,
  indexHistory,
  leavesAt,
  markAt,
  rowsAt,
  unseenOf,
} from "../arbitraries/index-history.ts";
import { type Index, type IndexLayer, onFreshIndexes, withIndexOf } from "./fresh-index.ts";
import { everything } from "./index-content.ts";

type Rows = Parameters<IndexBuild["add"]>[0];

const batch = (rows: Partial<Rows>): Rows => ({ escrows: [], unseen: [], merchants: [], ...rows });

/** The numbers and leaves that a build shows, the same ones that follow each other only once. */
const leavesIn = (build: IndexBuild) =>
  Effect.gen(function* () {
    const seen: Array<readonly [bigint, string]> = [];
    yield* build.leaves((seq, leaf) => {
      const last = seen.at(-1);
      const text = leaf.toHex();
      if (last?.[0] !== seq || last[1] !== text) seen.push([seq, text]);
    });
    return seen;
  });

/** A settled row as it was while Pending, with its fields and unseen; nothing for another. */
const earlierStates = (row: IndexedEscrow): ReadonlyArray<Rows> => {
  if (row.settledSeq === null) return [];
  const before = row.settledSeq - 1n;
  const [seen, unseen] = [projectAt(row, before), projectUnseenAt(unseenOf(row), before)];
  return [batch({ escrows: seen ? [seen] : [] }), batch({ unseen: unseen ? [unseen] : [] })];
};

/**
 * How the rows of lives come to a build: in any order, some twice, some unseen, some of them both, some in an earlier
 * state.
 */
const arrivals = (rows: ReadonlyArray<IndexedEscrow>) => {
  const parts = rows.flatMap((row) => [
    batch({ escrows: [row] }),
    batch({ escrows: [row] }),
    batch({ unseen: [unseenOf(row)] }),
    ...earlierStates(row),
  ]);
  return fc.tuple(
    fc.shuffledSubarray(parts),
    fc.shuffledSubarray(
      rows.map((row) => batch({ escrows: [row] })),
      {
        minLength: rows.length,
        maxLength: rows.length,
      },
    ),
    fc.boolean(),
  );
};

/** What every index must do with its first snapshot; see `indexStoreContract`. */
export const indexBuildContract = <E>(
  name: string,
  fresh: () => IndexLayer<E>,
  numRuns: number,
) => {
  const { withIndex, holds } = onFreshIndexes(fresh, numRuns);

  describe(`${name} is built from a snapshot`, () => {
    test("rows in any order, with repeats, end as the same changes applied", () =>
      holds(
        escrowLives(8).chain((lives) =>
          fc.tuple(
            fc.constant(lives),
            arrivals(rowsAt(lives, eventCount(lives))),
            fc.uniqueArray(anyMerchant, { selector: (m) => m.address, maxLength: 3 }),
          ),
        ),
        (index, [lives, [repeated, once, isRepeatedFirst], rows]) =>
          Effect.gen(function* () {
            const merchants = rows.map((row) => ({ row, slot: 3n }));
            const parts = isRepeatedFirst ? [...repeated, ...once] : [...once, ...repeated];
            const empty = yield* everything(index);
            yield* Effect.scoped(
              Effect.gen(function* () {
                const build = yield* index.writer.build;
                yield* build.add(batch({ merchants }));
                for (const part of parts) yield* build.add(part);
                expect(yield* everything(index)).toEqual(empty);
                yield* build.finish(markAt(lives, eventCount(lives)));
              }),
            );
            const expected = yield* withIndexOf(indexMemory(), (memory: Index) =>
              Effect.andThen(
                memory.writer.apply({ ...finalChanges(lives), merchants }),
                everything(memory),
              ),
            );
            expect(yield* everything(index)).toEqual(expected);
          }),
      ));

    test("an unseen settled escrow stays where only its earlier state has all fields, in any order", () =>
      holds(
        escrowLives(4, 1).chain((lives) => {
          const rows = rowsAt(lives, eventCount(lives));
          const parts = rows.flatMap((row) => [
            batch({ unseen: [unseenOf(row)] }),
            ...earlierStates(row),
          ]);
          return fc.tuple(
            fc.constant(lives),
            fc.shuffledSubarray(parts, { minLength: parts.length }),
          );
        }),
        (index, [lives, parts]) =>
          Effect.gen(function* () {
            const count = eventCount(lives);
            yield* Effect.scoped(
              Effect.gen(function* () {
                const build = yield* index.writer.build;
                for (const part of parts) yield* build.add(part);
                yield* build.finish(markAt(lives, count));
              }),
            );
            expect(yield* index.writer.unseen(100, 0n)).toEqual(rowsAt(lives, count).map(unseenOf));
            expect(yield* index.log.leaves(1n, 100)).toEqual(leavesAt(lives, count));
          }),
      ));

    test("the time of the last snapshot is that of the build, then of each scan, and stays between", () =>
      holds(escrowLives(2, 2), ({ reader, writer }, lives) =>
        Effect.gen(function* () {
          const count = eventCount(lives);
          const time = Effect.map(reader.summary, ({ snapshotAtMs }) => snapshotAtMs);
          expect(yield* time).toBeNull();
          const mark = markAt(lives, count);
          yield* Effect.scoped(
            Effect.gen(function* () {
              const build = yield* writer.build;
              yield* build.add(batch({ escrows: rowsAt(lives, count) }));
              expect(yield* time).toBeNull();
              yield* build.finish(mark);
            }),
          );
          expect(yield* time).toBe(mark.atMs);
          yield* writer.apply(changesOf({ from: count, snapshotAtMs: mark.atMs + 7 }));
          expect(yield* time).toBe(mark.atMs + 7);
          yield* writer.apply(changesOf({ from: count, mark: { ...mark, atMs: mark.atMs + 9 } }));
          expect(yield* time).toBe(mark.atMs + 7);
        }),
      ));

    test("a build shows the leaves of its rows in ascending order, and more of them after more rows", () =>
      holds(
        escrowLives(8).chain((lives) => {
          const rows = rowsAt(lives, eventCount(lives));
          return fc.tuple(fc.constant(rows), fc.shuffledSubarray([...rows]));
        }),
        ({ writer }, [rows, first]) =>
          Effect.scoped(
            Effect.gen(function* () {
              const leavesOf = (of: ReadonlyArray<IndexedEscrow>) =>
                of
                  .flatMap(leavesOfIndexed)
                  .map(({ seq, leaf }) => [seq, leaf.toHex()] as const)
                  .sort(([a], [b]) => (a < b ? -1 : 1));
              const build = yield* writer.build;
              expect(yield* leavesIn(build)).toEqual([]);
              yield* build.add(batch({ escrows: first }));
              expect(yield* leavesIn(build)).toEqual(leavesOf(first));
              yield* build.add(batch({ unseen: rows.map(unseenOf) }));
              expect(yield* leavesIn(build)).toEqual(leavesOf(rows));
            }),
          ),
      ));

    test("two rows with one number show both leaves", () =>
      holds(escrowLives(2, 2), ({ writer }, [one, other]) =>
        Effect.scoped(
          Effect.gen(function* () {
            const rows = [one, other].flatMap((life) =>
              life === undefined ? [] : [indexedOf({ ...life[0], createdSeq: 1n })],
            );
            const build = yield* writer.build;
            for (const row of rows) yield* build.add(batch({ escrows: [row] }));
            const seen = yield* leavesIn(build);
            expect(new Set(seen.map(([, leaf]) => leaf)).size).toBe(2);
            expect(new Set(seen.map(([seq]) => seq))).toEqual(new Set([1n]));
          }),
        ),
      ));

    test("a build is beside the index until it is finished, and one that is not leaves the index as it was", () =>
      holds(fc.tuple(indexHistory, escrowLives(4)), (index, [{ changes }, lives]) =>
        Effect.gen(function* () {
          for (const change of changes) yield* index.writer.apply(change);
          const before = yield* everything(index);
          const leaves = yield* index.log.leaves(1n, 100);
          const [merchant] = fc.sample(anyMerchant, 1);
          if (merchant === undefined) throw new Error("no sample");
          yield* Effect.scoped(
            Effect.gen(function* () {
              const build = yield* index.writer.build;
              yield* build.add(batch({ escrows: rowsAt(lives, eventCount(lives)) }));
              yield* build.add(batch({ merchants: [{ row: merchant, slot: 3n }] }));
              expect(yield* everything(index)).toEqual(before);
            }),
          );
          expect(yield* everything(index)).toEqual(before);
          expect(yield* index.log.leaves(1n, 100)).toEqual(leaves);
        }),
      ));

    test("a finished build replaces everything that the index held", () =>
      holds(fc.tuple(indexHistory, anyMerchant, escrowLives(4)), (index, [old, merchant, lives]) =>
        Effect.gen(function* () {
          for (const change of old.changes) yield* index.writer.apply(change);
          const merchants = [{ row: merchant, slot: 3n }];
          yield* index.writer.apply(changesOf({ from: eventCount(old.lives), merchants }));
          const { revision } = yield* index.reader.summary;
          const count = eventCount(lives);
          yield* Effect.scoped(
            Effect.gen(function* () {
              const build = yield* index.writer.build;
              yield* build.add(batch({ escrows: rowsAt(lives, count) }));
              yield* build.finish(markAt(lives, count));
            }),
          );
          if (revision !== null) expect((yield* index.reader.summary).revision).not.toBe(revision);
          const expected = yield* withIndexOf(indexMemory(), (memory: Index) =>
            Effect.andThen(memory.writer.apply(finalChanges(lives)), everything(memory)),
          );
          expect(yield* everything(index)).toEqual(expected);
          expect(yield* index.log.leaves(1n, 100)).toEqual(leavesAt(lives, count));
        }),
      ));

    test("the standing and the kept tiles outlive a build, finished or not", () =>
      withIndex(({ writer, log }) =>
        Effect.gen(function* () {
          const standing = '{"size":1}';
          const tile = { path: "1/tile/0/000", bytes: new Uint8Array(8192).fill(9) };
          yield* log.replaceStanding(null, standing);
          yield* log.keepTiles([tile]);
          for (const isFinished of [false, true]) {
            yield* Effect.scoped(
              Effect.gen(function* () {
                const build = yield* writer.build;
                if (isFinished) yield* build.finish(markAt([], 0n));
              }),
            );
            expect(yield* log.standing).toBe(standing);
            expect(yield* log.tile(tile.path)).toEqual(tile.bytes);
          }
        }),
      ));
  });
};
