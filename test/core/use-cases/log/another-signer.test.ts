import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import { logStoreOf } from "../../../../adapters/memory/log-rows.ts";
import { someLeaves } from "../../log/support/reference-tree.ts";
import { worldOf } from "./publishing-world.ts";

test("a process that has signed nothing goes on from what another one has signed first", async () => {
  const [world, other] = [worldOf(20), worldOf(20)];
  other.store = world.store;
  await world.run(function* ({ grown, status }) {
    expect((yield* status).state).toBe("starting");
    yield* Effect.promise(() => other.publish());
    world.keyFiles.set(1, other.keyFiles.get(1) ?? "");
    world.grow(3);
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).hindrance).toBeNull();
  });
  expect(other.signed.map(({ size }) => size)).toContain(21);
  expect(world.signed.map(({ size }) => size)).toEqual([24]);
});

test("an emptied store signs nothing until its leaves reach the size that the key has signed", async () => {
  const world = worldOf(20);
  await world.publish();
  const before = world.signed.length;
  world.store = logStoreOf(new IndexRows());
  const later = world.leaves;
  world.leaves = later.slice(0, 10);
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("30 seconds");
    expect(world.signed.length).toBe(before);
    world.leaves = later;
    yield* grown(world.mark());
    yield* TestClock.adjust("30 seconds");
    expect((yield* status).hindrance).toBeNull();
  });
  expect(await Effect.runPromise(world.publishedSize)).toBe(21);
  expect(new Set(world.signed.map(({ size }) => size))).toEqual(new Set([21]));
});

test("another root in the store, of the size that was signed last, ends the log under a running process", async () => {
  const [world, other] = [worldOf(20), worldOf(0)];
  other.leaves = someLeaves(20, 7);
  await other.publish();
  const foreign = await Effect.runPromise(other.store.standing);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    yield* world.store.replaceStanding(yield* world.store.standing, foreign ?? "");
    world.grow(3);
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
  });
  expect((await Effect.runPromise(world.standing))?.ended).toBe("two roots were signed at size 21");
  expect(new Set(world.signed.map(({ size }) => size))).toEqual(new Set([21]));
});
