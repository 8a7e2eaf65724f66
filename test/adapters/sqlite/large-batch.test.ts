import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect, Fiber } from "effect";
import { escrowIndexMemory } from "../../../adapters/memory/escrow-index.ts";
import { escrowIndexSqlite } from "../../../adapters/sqlite/escrow-index.ts";
import { eventsOf } from "../../../core/domain/index/settlement-event.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { EscrowIndex, type IndexBatch } from "../../../ports/escrow-index.ts";
import { watchStores } from "../../chaos/support/kills/opened-stores.ts";
import { walletOf, worldEscrow } from "../../simulation/world-escrow.ts";
import { tmpdir } from "../../temporary-root.ts";

const folder = mkdtempSync(join(tmpdir(), "large-batch-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

const ledger = { genesisHash: walletOf("genesis"), deployment: LOCAL_DEPLOYMENT };
const MARK = { slot: 5n, ledgerTime: 1_700_000_000n, atMs: 1_700_000_000_000 };
type Index = EscrowIndex["Service"];

const withIndex = <A, E>(program: (index: Index) => Effect.Effect<A, E>) =>
  Effect.runPromise(
    Effect.provide(
      EscrowIndex.use(program),
      escrowIndexSqlite({ path: join(folder, `${++files}.sqlite`), ...ledger }),
    ),
  );

/** Escrows of a world from `first` on, as a sync's batch. */
const batchOf = (
  first: number,
  rows: number,
  checkpoint: IndexBatch["checkpoint"] = null,
): IndexBatch => {
  const escrows = Array.from({ length: rows }, (_, at) => ({
    row: worldEscrow(first + at),
    slot: 1n,
  }));
  return {
    escrows,
    merchants: [],
    events: escrows.flatMap(({ row }) => eventsOf(row)),
    checkpoint,
  };
};

const everything = (index: Index) =>
  Effect.all([
    index.escrows({}, 5000, null),
    index.events({}, 5000, null),
    index.summary,
    index.events({ merchant: walletOf("merchant 3") }, 5000, null),
  ]);

const inMemory = (...batches: ReadonlyArray<IndexBatch>) =>
  Effect.runPromise(
    Effect.provide(
      EscrowIndex.use((index) =>
        Effect.andThen(Effect.forEach(batches, index.apply), everything(index)),
      ),
      escrowIndexMemory(ledger),
    ),
  );

describe("a large batch", () => {
  test("holds up nobody while it is written, and shows nothing before it is whole", () =>
    withIndex((index) =>
      Effect.gen(function* () {
        const writing = yield* Effect.forkChild(index.apply(batchOf(0, 3000)));
        const seen: Array<number> = [];
        while (writing.pollUnsafe() === undefined) {
          seen.push((yield* index.summary).escrows);
          yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
        }
        yield* Fiber.join(writing);
        expect(seen.length).toBeGreaterThan(10);
        expect(new Set(seen.slice(0, -1))).toEqual(new Set([0]));
        expect((yield* index.summary).escrows).toBe(3000);
      }),
    ));

  test("of which the writing is broken off leaves nothing, and the next is written as if it had never been", async () => {
    const next = batchOf(1500, 700);
    const seen = await withIndex((index) =>
      Effect.gen(function* () {
        const writing = yield* Effect.forkChild(index.apply(batchOf(0, 3000)));
        for (let turns = 0; turns < 5; turns++) yield* Effect.yieldNow;
        expect(writing.pollUnsafe()).toBeUndefined();
        yield* Fiber.interrupt(writing);
        expect((yield* index.summary).escrows).toBe(0);
        yield* index.apply(next);
        return yield* everything(index);
      }),
    );
    expect(seen).toEqual(await inMemory(next));
  });

  test("and others at the same time are applied one after the other", async () => {
    const batches = [batchOf(0, 1000), batchOf(500, 1000), batchOf(900, 10)];
    const seen = await withIndex((index) =>
      Effect.andThen(
        Effect.forEach(batches, index.apply, { concurrency: "unbounded" }),
        everything(index),
      ),
    );
    expect(seen).toEqual(await inMemory(...batches));
  });
});

test("from its first checkpoint on, what the index has applied outlives a power cut", async () => {
  using stores = watchStores();
  const levels = (): ReadonlyArray<unknown> =>
    [...stores.opened].map((store) => store.prepare("PRAGMA synchronous").values()[0]?.[0]);
  const [normal, full] = [1n, 2n];
  await withIndex((index) =>
    Effect.gen(function* () {
      yield* index.apply(batchOf(0, 10));
      expect(levels()).toContain(normal);
      yield* index.apply({ ...batchOf(10, 10), checkpoint: MARK });
      expect(new Set(levels())).toEqual(new Set([full]));
    }),
  );
});
