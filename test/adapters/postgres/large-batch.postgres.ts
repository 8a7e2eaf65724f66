import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { indexMemory } from "../../../adapters/memory/index-store.ts";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import type { IndexChanges } from "../../../ports/index/index-writer.ts";
import { changesOf, indexedOf, unseenOf } from "../../arbitraries/index-history.ts";
import { type Index, withIndexOf } from "../../contracts/fresh-index.ts";
import { pendingOf, walletOf, worldEscrow, worldMerchants } from "../../simulation/world-escrow.ts";
import { freshSchema, withStore } from "./test-database.ts";

/** More than two statements take. */
const ROWS = 2500;

const rows = Array.from({ length: ROWS }, (_, at) => indexedOf(worldEscrow(at)));
const pending = rows.map(({ escrow }) => indexedOf(pendingOf(escrow)));
const merchants = worldMerchants().map((row) => ({ row, slot: 1n }));
const mark = {
  count: BigInt(2 * ROWS),
  frontier: new Uint8Array(1280).fill(1),
  slot: 5n,
  ledgerTime: 1_700_000_000n,
  atMs: 1_700_000_000_000,
};

const seen = ({ reader, writer }: Index) =>
  Effect.all([
    reader.escrows({}, 2 * ROWS, null),
    reader.events({}, 4 * ROWS, { before: null }),
    reader.events({ merchant: walletOf("merchant 3") }, ROWS, { after: 100n }),
    reader.merchants({}, 100, null),
    writer.unseen(ROWS, 0n),
    Effect.map(reader.summary, ({ escrows, unseen, mark: at }) => ({ escrows, unseen, mark: at })),
  ]);

const after = (batches: ReadonlyArray<IndexChanges>) => (index: Index) =>
  Effect.andThen(Effect.forEach(batches, index.writer.apply), seen(index));

const unseenEvery = (nth: number, of: ReadonlyArray<IndexedEscrow>) =>
  changesOf({
    escrows: of.filter((_, at) => at % nth > 0),
    unseen: of.filter((_, at) => at % nth === 0).map(unseenOf),
  });

describe("a large batch", () => {
  test("is written as one, over Pending rows, unseen ones and ones that are the same already", async () => {
    const batches = [
      { ...unseenEvery(3, pending), mark },
      { ...unseenEvery(7, rows), from: mark.count, merchants },
      changesOf({ from: mark.count, escrows: rows, mark }),
    ];
    for (const count of [1, 2, 3]) {
      const first = batches.slice(0, count);
      const found = await Effect.runPromise(withStore(freshSchema(), after(first)));
      expect(found).toEqual(await Effect.runPromise(withIndexOf(indexMemory(), after(first))));
    }
  });
});
