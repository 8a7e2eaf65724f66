import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect, Fiber } from "effect";
import { indexMemory } from "../../../adapters/memory/index-store.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import type { SyncMark } from "../../../core/domain/index/sync-report.ts";
import type { IndexChanges } from "../../../ports/index/index-writer.ts";
import { changesOf, indexedOf } from "../../arbitraries/index-history.ts";
import { watchStores } from "../../chaos/support/kills/opened-stores.ts";
import { type Index, withIndexOf } from "../../contracts/fresh-index.ts";
import { walletOf, worldEscrow } from "../../simulation/world-escrow.ts";
import { tmpdir } from "../../temporary-root.ts";
import { withStore } from "./test-store.ts";

const folder = mkdtempSync(join(tmpdir(), "large-batch-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const withIndex = <A, E>(program: (index: Index) => Effect.Effect<A, E>) =>
  Effect.runPromise(withStore(join(folder, String(++files), "index.sqlite"), program));

const markAt = (count: number): SyncMark => ({
  count: BigInt(count),
  frontier: new Uint8Array(1280).fill(1),
  slot: 5n,
  ledgerTime: 1_700_000_000n,
  atMs: 1_700_000_000_000,
});

/** Escrows of a world from `first` on. */
const rowsOf = (first: number, rows: number): ReadonlyArray<IndexedEscrow> =>
  Array.from({ length: rows }, (_, at) => indexedOf(worldEscrow(first + at)));

/** Escrows of a world from `first` on, as a sync's changes. */
const batchOf = (first: number, rows: number, rest: Partial<IndexChanges> = {}): IndexChanges =>
  changesOf({ escrows: rowsOf(first, rows), ...rest });

const seen = ({ reader }: Index) =>
  Effect.all([
    reader.escrows({}, 5000, null),
    reader.events({}, 5000, { before: null }),
    Effect.map(reader.summary, ({ escrows, unseen, mark }) => ({ escrows, unseen, mark })),
    reader.events({ merchant: walletOf("merchant 3") }, 5000, { before: null }),
  ]);

const inMemory = (...batches: ReadonlyArray<IndexChanges>) =>
  Effect.runPromise(
    withIndexOf(indexMemory(), (index) =>
      Effect.andThen(Effect.forEach(batches, index.writer.apply), seen(index)),
    ),
  );

/** Asks for the number of escrows, turn by turn, while something is written. */
const countsDuring = <A, E>(index: Index, work: Effect.Effect<A, E>) =>
  Effect.gen(function* () {
    const writing = yield* Effect.forkChild(work);
    const counts: Array<number> = [];
    while (writing.pollUnsafe() === undefined) {
      counts.push((yield* index.reader.summary).escrows);
      yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
    }
    yield* Fiber.join(writing);
    return counts;
  });

describe("a large batch", () => {
  test("holds up nobody while it is written, and shows nothing before it is whole", () =>
    withIndex((index) =>
      Effect.gen(function* () {
        const counts = yield* countsDuring(index, index.writer.apply(batchOf(0, 3000)));
        expect(counts.length).toBeGreaterThan(10);
        expect(new Set(counts.slice(0, -1))).toEqual(new Set([0]));
        expect((yield* index.reader.summary).escrows).toBe(3000);
      }),
    ));

  test("of which the writing is broken off leaves nothing, and the next is written as if it had never been", async () => {
    const next = batchOf(1500, 700);
    const after = await withIndex((index) =>
      Effect.gen(function* () {
        const writing = yield* Effect.forkChild(index.writer.apply(batchOf(0, 3000)));
        for (let turns = 0; turns < 5; turns++) yield* Effect.yieldNow;
        expect(writing.pollUnsafe()).toBeUndefined();
        yield* Fiber.interrupt(writing);
        expect((yield* index.reader.summary).escrows).toBe(0);
        yield* index.writer.apply(next);
        return yield* seen(index);
      }),
    );
    expect(after).toEqual(await inMemory(next));
  });

  test("and others at the same time are applied one after the other", async () => {
    const batches = [batchOf(0, 1000), batchOf(500, 1000), batchOf(900, 10)];
    const after = await withIndex((index) =>
      Effect.andThen(
        Effect.forEach(batches, index.writer.apply, { concurrency: "unbounded" }),
        seen(index),
      ),
    );
    expect(after).toEqual(await inMemory(...batches));
  });
});

test("a first snapshot holds up nobody while its rows are added and filled in, and shows nothing before it is whole", async () => {
  const [rows, mark] = [rowsOf(0, 3000), markAt(6000)];
  const after = await withIndex((index) =>
    Effect.gen(function* () {
      const build = Effect.scoped(
        Effect.gen(function* () {
          const begun = yield* index.writer.build;
          yield* begun.add({ escrows: rows.toReversed(), unseen: [], merchants: [] });
          yield* begun.leaves(() => undefined);
          yield* begun.finish(mark);
        }),
      );
      const counts = yield* countsDuring(index, build);
      expect(counts.filter((count) => count === 0).length).toBeGreaterThan(10);
      expect(counts.filter((count) => count !== 0 && count !== 3000)).toEqual([]);
      return yield* seen(index);
    }),
  );
  expect(after).toEqual(await inMemory(changesOf({ escrows: rows, mark })));
});

test("what the index has applied with a mark outlives a power cut", async () => {
  using stores = watchStores();
  const levels = (): ReadonlySet<unknown> =>
    new Set(
      [...stores.opened].map((store) => store.prepare("PRAGMA synchronous").values()[0]?.[0]),
    );
  const [normal, full] = [1n, 2n];
  await withIndex(({ writer }) =>
    Effect.gen(function* () {
      yield* writer.apply(batchOf(0, 10));
      expect(levels()).toEqual(new Set([normal, full]));
      yield* writer.apply(batchOf(10, 10, { mark: markAt(40) }));
      expect(levels()).toEqual(new Set([full]));
      yield* writer.apply(batchOf(20, 10, { from: 40n }));
      expect(levels()).toEqual(new Set([full]));
    }),
  );
});
