import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { TestClock } from "effect/testing";
import { encodeEntryBundle } from "../../../../core/log/tiles/entry-bundle.ts";
import {
  makeSettlementLog,
  SettlementLog,
} from "../../../../core/use-cases/log/serving/published-log.ts";
import {
  makeLogProofs,
  proveEscrow,
  readCheckpoint,
  readLogTile,
} from "../../../../core/use-cases/log/serving/read-log.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { logIdentity } from "../../../doubles/log-identity.ts";
import { someLeaves } from "../../log/support/reference-tree.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { worldEscrow } from "../../../simulation/world-escrow.ts";
import { testInstance } from "../test-instance.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";

/** What a service over a world's store reads. */
const served = <A, E>(
  world: PublishingWorld,
  work: Effect.Effect<A, E, SettlementLog | LogStore>,
) => {
  const leaves = (from: bigint, limit: number) =>
    Effect.sync(() => world.leaves.slice(Number(from) - 1, Number(from) - 1 + limit));
  const base = Layer.mergeAll(
    Layer.succeed(LogStore, { ...world.store, leaves }),
    logIdentity(TEST_GENESIS_HASH, testInstance().deployment),
  );
  const log = Layer.effect(SettlementLog, makeSettlementLog);
  return Effect.runPromise(Effect.provide(work, Layer.provideMerge(log, base)));
};

const EVENT = { createdSeq: 290n, settledSeq: null };

test("partial tiles and proofs of every signed size are served", async () => {
  const world = worldOf(300);
  await world.publish();
  for (const [path, from, to] of [
    ["tile/entries/001.p/45", 256, 301],
    ["tile/entries/001.p/9", 256, 265],
    ["tile/entries/000.p/9", 0, 9],
    ["tile/entries/000", 0, 256],
  ] as const) {
    const bundle = encodeEntryBundle(world.treeLeaves(301).slice(from, to));
    expect(await served(world, readLogTile(path))).toEqual(bundle);
  }
  expect((await served(world, readLogTile("tile/0/001.p/7"))).length).toBe(7 * 32);
  expect(await served(world, proveEscrow(EVENT))).not.toBeNull();
});

test.each([
  ["before the first checkpoint", 0],
  ["beyond the newest checkpoint", 10],
])(
  "packets of an event %s ask the store every 100 ms, however many they are",
  async (_, events) => {
    const world = worldOf(events);
    if (events > 0) await world.publish();
    const { store } = world;
    let reads = 0;
    const standing = Effect.suspend(() => {
      reads += 1;
      return store.standing;
    });
    world.store = { ...store, standing };
    const unlogged = { ...worldEscrow(0), createdSeq: 11n };
    const asked = Effect.gen(function* () {
      const { ofEscrow } = yield* makeLogProofs;
      const proofs = [];
      for (const _ of Array(5)) proofs.push(yield* ofEscrow(unlogged));
      const readsAtOnce = reads;
      yield* TestClock.adjust(100);
      proofs.push(yield* ofEscrow(unlogged));
      return { proofs, readsAtOnce, reads };
    });
    expect(await served(world, Effect.provide(asked, patientClock()))).toEqual({
      proofs: Array(6).fill(null),
      readsAtOnce: 1,
      reads: 2,
    });
  },
);

test("an index that differs from what was signed gives no proof and no partial tile", async () => {
  const world = worldOf(300);
  await world.publish();
  world.leaves = someLeaves(300, 7);
  expect(await served(world, proveEscrow(EVENT))).toBeNull();
  for (const path of ["tile/entries/001.p/45", "tile/0/001.p/7", "tile/0/001.p/45"])
    expect(await served(world, Effect.flip(readLogTile(path)))).toMatchObject({
      _tag: "StoreUnavailable",
    });
});

test("proofs of a log that grows are those of a service that begins anew", async () => {
  const world = worldOf(0);
  const fresh = (index: number) =>
    Effect.promise(() =>
      served(world, proveEscrow({ createdSeq: BigInt(index), settledSeq: null })),
    );
  const compared = Effect.gen(function* () {
    const pairs = [];
    for (const size of [1, 200, 255, 256, 300, 700, 66_000]) {
      world.grow(size - world.leaves.length);
      yield* Effect.promise(() => world.publish());
      for (const index of [1, Math.ceil(size / 2), size]) {
        const known = yield* proveEscrow({ createdSeq: BigInt(index), settledSeq: null });
        pairs.push([known?.proof, (yield* fresh(index))?.proof]);
      }
    }
    return pairs;
  });
  for (const [known, fresh] of await served(world, compared)) {
    expect(known).toBeDefined();
    expect(known).toBe(fresh ?? "");
  }
}, 60_000);

test("a proof takes no tile from the store that one before it has read", async () => {
  const world = worldOf(1000);
  await world.publish();
  const { store } = world;
  let reads = 0;
  world.store = {
    ...store,
    tile: (path) =>
      Effect.andThen(
        Effect.sync(() => (reads += 1)),
        store.tile(path),
      ),
  };
  const read = Effect.gen(function* () {
    yield* proveEscrow({ createdSeq: 300n, settledSeq: null });
    const first = reads;
    const proof = yield* proveEscrow({ createdSeq: 301n, settledSeq: null });
    return { isProven: proof !== null, first, more: reads - first };
  });
  expect(await served(world, read)).toEqual({ isProven: true, first: 4, more: 0 });
});

test("tiles of leaves that the index takes back are forgotten", async () => {
  const world = worldOf(300);
  await world.publish();
  const { leaves } = world;
  world.leaves = [...someLeaves(299, 7), leaves[299] ?? new Uint8Array()];
  const read = Effect.gen(function* () {
    const before = yield* proveEscrow({ createdSeq: 300n, settledSeq: null });
    world.leaves = leaves;
    return [before, yield* proveEscrow({ createdSeq: 300n, settledSeq: null })] as const;
  });
  const [before, after] = await served(world, read);
  expect(before).toBeNull();
  expect(after).not.toBeNull();
});

test("partial tiles that were verified stay as they were signed when the index changes", async () => {
  const world = worldOf(300);
  await world.publish();
  const bundle = encodeEntryBundle(world.treeLeaves(301).slice(256));
  const read = Effect.gen(function* () {
    yield* readLogTile("tile/entries/001.p/45");
    world.leaves = someLeaves(300, 7);
    return yield* readLogTile("tile/entries/001.p/45");
  });
  expect(await served(world, read)).toEqual(bundle);
});

/** Publishes a world, and then serves it from a store that has lost these tiles. */
const withoutTiles = async (events: number, lost: ReadonlyArray<string>) => {
  const world = worldOf(events);
  await world.publish();
  const { store } = world;
  world.store = {
    ...store,
    tile: (path) => (lost.includes(path) ? Effect.succeed(null) : store.tile(path)),
  };
  return { world, store };
};

const LOST = ["tile/entries/000", "tile/0/000", "tile/0/001", "tile/entries/002"];

test("a full tile whose file is missing is made anew as it was signed", async () => {
  const { world, store } = await withoutTiles(
    1000,
    LOST.map((path) => `0/${path}`),
  );
  for (const path of LOST) {
    const kept = await Effect.runPromise(store.tile(`0/${path}`));
    expect(await served(world, readLogTile(path))).toEqual(kept ?? new Uint8Array());
  }
});

test("a full tile whose file is missing is never made of other leaves than were signed", async () => {
  const { world } = await withoutTiles(
    1000,
    LOST.map((path) => `0/${path}`),
  );
  world.leaves = someLeaves(1000, 7);
  for (const path of LOST)
    expect(await served(world, Effect.flip(readLogTile(path)))).toMatchObject({
      _tag: "StoreUnavailable",
    });
});

test("a full tile that other leaves would give is a failure that passes once the leaves are back", async () => {
  const { world } = await withoutTiles(1000, ["0/tile/entries/001"]);
  const { leaves } = world;
  world.leaves = someLeaves(1000, 7);
  const [refused, made] = await served(
    world,
    Effect.gen(function* () {
      const failure = yield* Effect.flip(readLogTile("tile/entries/001"));
      world.leaves = leaves;
      return [failure, yield* readLogTile("tile/entries/001")] as const;
    }),
  );
  expect(refused).toMatchObject({ _tag: "StoreUnavailable", retryable: true });
  expect(made).toEqual(encodeEntryBundle(world.treeLeaves(512).slice(256)));
});

test("a missing bundle is held against a kept tile above it, also when the index has changed", async () => {
  const { world } = await withoutTiles(1000, ["0/tile/entries/001"]);
  world.leaves = [...world.leaves.slice(0, 300), ...someLeaves(1000, 7).slice(300)];
  expect(await served(world, Effect.flip(readLogTile("tile/entries/001")))).toMatchObject({
    cause:
      "tile/entries/001 is not kept, and the store's leaves give another one than was signed at size 1001",
  });
});
const FULL_TILES = ["tile/entries/000", "tile/entries/001", "tile/0/000", "tile/0/001"];
const PARTIAL_TILES = ["tile/entries/002.p/89", "tile/entries/002.p/3", "tile/0/002.p/89"];

/** The bytes at these paths, or the failure's tag, and the checkpoint. */
const everythingServed = Effect.gen(function* () {
  const read = (path: string) =>
    readLogTile(path).pipe(
      Effect.map((bytes) => bytes.toHex()),
      Effect.catch(({ _tag }) => Effect.succeed(_tag)),
    );
  return {
    checkpoint: yield* readCheckpoint,
    full: yield* Effect.forEach(FULL_TILES, read),
    partial: yield* Effect.forEach(PARTIAL_TILES, read),
  };
});

test("an ended log's checkpoint and full tiles stay served as they were", async () => {
  const world = worldOf(600);
  await world.publish();
  const before = await served(world, everythingServed);
  expect([...before.full, ...before.partial].every((bytes) => /^[0-9a-f]{6,}$/.test(bytes))).toBe(
    true,
  );
  // Another history, which is longer and fills the tile at which the log ended.
  world.leaves = someLeaves(900, 7);
  await world.publish([900], 400);
  expect((await Effect.runPromise(world.standing))?.ended).not.toBeNull();
  const after = await served(world, everythingServed);
  expect(after.checkpoint).toBe(before.checkpoint);
  expect(after.full).toEqual(before.full);
  // The leaves of a partial tile were in the index alone, which holds the other history.
  expect(after.partial).toEqual(PARTIAL_TILES.map(() => "StoreUnavailable"));
  expect(await served(world, Effect.flip(readLogTile("tile/entries/002")))).toMatchObject({
    _tag: "NotInLog",
  });
});

test("a log that ends in the process that serves it keeps its partial tiles too", async () => {
  const world = worldOf(600);
  await world.publish();
  const [before, after] = await served(
    world,
    Effect.gen(function* () {
      const first = yield* everythingServed;
      world.leaves = someLeaves(900, 7);
      yield* Effect.promise(() => world.publish([900], 400));
      return [first, yield* everythingServed] as const;
    }),
  );
  expect((await Effect.runPromise(world.standing))?.ended).not.toBeNull();
  expect(after).toEqual(before);
});

test("an ended log's full tiles stay kept as they were while its successor grows", async () => {
  const world = worldOf(600);
  await world.publish();
  const kept = () =>
    Promise.all(FULL_TILES.map((path) => Effect.runPromise(world.store.tile(`0/${path}`))));
  const before = await kept();
  expect(before).not.toContain(null);
  world.leaves = someLeaves(900, 7);
  await world.publish([900], 400);
  world.seed = 2;
  await world.publish([700, 900]);
  expect(await Effect.runPromise(world.publishedSize)).toBe(901);
  expect(await kept()).toEqual(before);
});
