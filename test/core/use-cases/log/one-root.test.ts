import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { someLeaves } from "../../log/support/reference-tree.ts";
import { testInstance } from "../test-instance.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";

const { deployment } = testInstance();

/** What a node shows that has followed a world up to a count. */
const shown = (world: PublishingWorld, count: number) => ({
  slot: 1n,
  value: custodyConfigAccount(deployment, world.mark(count)),
});

/** A world of two nodes, the second of which is at a count. The index holds other leaves from a read of both on. */
const rebuiltDuringReads = (second: number) => {
  const world = worldOf(12);
  const honest = worldOf(12);
  const state = { isRebuilt: false };
  world.nodes = {
    count: 2,
    readFromEach: () =>
      Effect.sync(() => {
        if (state.isRebuilt) world.leaves = someLeaves(12, 7);
        return [shown(honest, 12), shown(honest, second)];
      }),
  };
  return { world, state };
};

test("an index that is built anew while the nodes are read gives no second root of a size", async () => {
  const { world, state } = rebuiltDuringReads(10);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    state.isRebuilt = true;
    // After ten minutes the head of the agreed size is offered again.
    yield* TestClock.adjust("11 minutes");
  });
  const roots = new Set(world.signed.map(({ size, root }) => `${size} ${root}`));
  expect(roots.size).toBe(1);
  expect((await Effect.runPromise(world.standing))?.signed).toMatchObject(world.signed[0] ?? {});
});

test("a root at an agreed size that the checked tree does not begin with is not signed", async () => {
  const { world, state } = rebuiltDuringReads(10);
  const mark = world.mark();
  state.isRebuilt = true;
  await world.run(function* ({ grown, status }) {
    yield* grown(mark);
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).hindrance).toBe("store_or_ledger_unavailable");
  });
  expect(world.signed).toEqual([]);
  expect(await Effect.runPromise(world.standing)).toBeNull();
});

test("two processes with one key and two stores sign no second root of a size", async () => {
  const [world, copy] = [worldOf(20), worldOf(0)];
  copy.leaves = someLeaves(20, 7);
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark(5));
    yield* TestClock.adjust("10 seconds");
    yield* Effect.promise(() => copy.publish());
    // The copy signs with the same key file.
    world.keyFiles.set(1, copy.keyFiles.get(1) ?? "");
    yield* grown(world.mark(20));
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).hindrance).toBe("store_or_ledger_unavailable");
  });
  expect(world.signed.map(({ size }) => size)).toEqual([6]);
  expect((await Effect.runPromise(world.standing))?.signed.size).toBe(6);
  expect(world.keyFiles.get(1)).toBe(copy.keyFiles.get(1) ?? "");
});

test("two processes with one key file that sign at the same moment sign one root of a size", async () => {
  const [world, copy] = [worldOf(20), worldOf(0)];
  copy.leaves = someLeaves(20, 7);
  await copy.publish();
  const copied = copy.keyFiles.get(1) ?? "";
  // The copy writes the key's file when this process has read it and is about to write it.
  const { store } = world;
  world.store = {
    ...store,
    replaceStanding: (before, next) => {
      if (!world.keyFiles.has(1)) world.keyFiles.set(1, copied);
      return store.replaceStanding(before, next);
    },
  };
  await world.publish();
  expect(copy.signed.map(({ size }) => size)).toContain(21);
  expect(world.signed).toEqual([]);
  expect(world.keyFiles.get(1)).toContain(copy.signed[0]?.root ?? "no root");
});

/**
 * A world whose key file is written by another process, with another history, in the moment before it is written here.
 */
const losingTheKeyFile = async (own: ReadonlyArray<number>, other: number) => {
  const [world, copy] = [worldOf(20), worldOf(0)];
  for (const count of own) await world.publish([count]);
  const before = await Effect.runPromise(world.standing);
  copy.leaves = someLeaves(other, 7);
  await copy.publish();
  const { store } = world;
  let isLost = false;
  world.store = {
    ...store,
    replaceStanding: (from, next) => {
      if (!isLost) world.keyFiles.set(1, copy.keyFiles.get(1) ?? "");
      isLost = true;
      return store.replaceStanding(from, next);
    },
  };
  return { world, before, root: copy.signed[0]?.root ?? "no root" };
};

test("a head that another process's signature keeps from being signed does not stay in the standing", async () => {
  const { world, before } = await losingTheKeyFile([5], 20);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect((yield* world.standing)?.signed).toEqual(before?.signed);
  });
  expect(world.signed.map(({ size }) => size)).toEqual([6]);
});

test("the first standing of a store names what the key has signed, if another process was faster", async () => {
  const { world, root } = await losingTheKeyFile([], 20);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect((yield* world.standing)?.signed).toMatchObject({ size: 21, root });
  });
  expect(world.signed).toEqual([]);
});

test("a process that has lost the key's file to another history ends the log, without a restart", async () => {
  for (const own of [[], [5]]) {
    const { world } = await losingTheKeyFile(own, 20);
    await world.run(function* ({ grown, status }) {
      yield* grown(world.mark());
      yield* TestClock.adjust("10 minutes");
      expect((yield* status).hindrance).toBe("ended");
    });
    expect((await Effect.runPromise(world.standing))?.ended).toContain("another root at size 21");
  }
});

test("a process that has lost the key's file to the same history goes on", async () => {
  const world = worldOf(20);
  const other = worldOf(20);
  await other.publish([12]);
  const { store } = world;
  let isLost = false;
  world.store = {
    ...store,
    replaceStanding: (from, next) => {
      if (!isLost) world.keyFiles.set(1, other.keyFiles.get(1) ?? "");
      isLost = true;
      return store.replaceStanding(from, next);
    },
  };
  await world.publish([10, 20]);
  expect(world.signed.at(-1)?.size).toBe(21);
  expect((await Effect.runPromise(world.standing))?.signed.size).toBe(21);
});
