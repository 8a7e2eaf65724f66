import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import { logStoreOf } from "../../../../adapters/memory/log-rows.ts";
import { encodeEntryBundle } from "../../../../core/log/tiles/entry-bundle.ts";
import { fullTilesSince, TILE_WIDTH, tilePath } from "../../../../core/log/tiles/tile-path.ts";
import { beginTree } from "../../../../core/use-cases/log/signing/growing-tree.ts";
import type { LogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { readTile } from "../../../../core/use-cases/log/read-tree.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { someLeaves } from "../../log/support/reference-tree.ts";
import { worldOf } from "./publishing-world.ts";

test("with one node, leaves that change while they are read leave no tile beyond the signed size", async () => {
  const world = worldOf(2000);
  await world.publish([300]);
  const beyond = fullTilesSince(301, 2001).map((tile) => `0/${tilePath(tile)}`);
  const kept = () => Promise.all(beyond.map((path) => Effect.runPromise(world.store.tile(path))));
  const after = [...world.leaves.slice(0, 400), ...someLeaves(2000, 7).slice(400)];
  let reads = 0;
  world.beforeLeaves = () => {
    reads += 1;
    if (reads > 3) world.leaves = after;
  };
  await world.publish([2000]);
  expect(world.leaves).toBe(after);
  expect(world.signed.at(-1)?.size).toBe(301);
  expect((await kept()).filter((tile) => tile !== null).length).toBe(0);

  world.beforeLeaves = () => {};
  await world.publish([2000]);
  expect(world.signed.at(-1)?.size).toBe(2001);
  expect(await Effect.runPromise(world.store.tile("0/tile/entries/005"))).toEqual(
    encodeEntryBundle(world.treeLeaves(2001).slice(5 * TILE_WIDTH, 6 * TILE_WIDTH)),
  );
});

test("a restarted process reads the leaves that are new, and no others, each time that the log grows", async () => {
  const world = worldOf(2000);
  await world.publish();
  let reads = 0;
  world.beforeLeaves = () => {
    reads += 1;
  };
  const readsOfGrowths = Effect.fnUntraced(function* ({ grown }: LogPublisher["Service"]) {
    const counts: Array<number> = [];
    for (let growth = 0; growth < 4; growth++) {
      world.grow(10);
      reads = 0;
      yield* grown(world.mark());
      yield* TestClock.adjust("10 seconds");
      counts.push(reads);
    }
    return counts;
  });
  await world.run((publisher) =>
    Effect.map(readsOfGrowths(publisher), (counts) => expect(counts.slice(1)).toEqual([1, 1, 1])),
  );
  expect(world.signed.at(-1)?.size).toBe(2041);
});

const TREE = { networkLeaf: new Uint8Array(66), generation: 0 };

/** A store of leaves that may be replaced, how often they were read, and how many tiles it got at once. */
const storeOf = (count: number) => {
  const state = { leaves: someLeaves(count, 0), reads: 0, mostAtOnce: 0 };
  const store = logStoreOf(new IndexRows());
  const log: LogStore["Service"] = {
    ...store,
    leaves: (from, limit) =>
      Effect.sync(() => {
        state.reads += 1;
        return state.leaves.slice(Number(from) - 1, Number(from) - 1 + limit);
      }),
    keepTiles: (tiles) => {
      state.mostAtOnce = Math.max(state.mostAtOnce, tiles.length);
      return store.keepTiles(tiles);
    },
  };
  const run = <A, E>(work: Effect.Effect<A, E, LogStore>) =>
    Effect.runPromise(Effect.provideService(work, LogStore, log));
  return { state, store, run };
};

const SIZE = 5000;
const MOST_HELD = 6;

test("tiles that wait for agreement are held up to a bound, and made anew once nodes agree", async () => {
  const { state, store, run } = storeOf(SIZE);
  const growing = await run(beginTree(TREE, 0, MOST_HELD));
  await run(growing.growTo(SIZE));
  const reads = state.reads;
  for (const agreed of [1000, 3000, SIZE]) {
    await run(growing.keepTo(agreed));
    for (const tile of fullTilesSince(0, SIZE)) {
      const leaves = TILE_WIDTH ** (tile.level === "entries" ? 1 : tile.level + 1);
      const isAgreed = (tile.index + 1) * leaves <= agreed;
      const kept = await run(store.tile(`0/${tilePath(tile)}`));
      expect(kept === null).toBe(!isAgreed);
    }
  }
  // Three blocks of leaves were held. All others are read a second time.
  expect(state.reads - reads).toBe(16);
  expect(state.mostAtOnce).toBe(16);
  const { run: onFresh } = storeOf(SIZE);
  for (const tile of fullTilesSince(0, SIZE)) {
    const made = await onFresh(readTile(TREE, tile));
    expect(await run(store.tile(`0/${tilePath(tile)}`))).toEqual(made);
  }
});

test("a tile that the store's leaves give otherwise than before is not kept", async () => {
  const { state, store, run } = storeOf(5000);
  const growing = await run(beginTree(TREE, 0, MOST_HELD));
  await run(growing.growTo(5000));
  state.leaves = [...state.leaves.slice(0, 2000), ...someLeaves(5000, 7).slice(2000)];
  expect(await run(Effect.flip(growing.keepTo(5000)))).toMatchObject({ _tag: "StoreUnavailable" });
  expect(await run(store.tile("0/tile/0/007"))).toBeNull();
  expect(await run(store.tile("0/tile/entries/007"))).toBeNull();
});
