import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import { logStoreOf } from "../../../../adapters/memory/log-rows.ts";
import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { ENDED_BY_OPERATOR } from "../../../../core/use-cases/log/log-standing.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";
import { answers, soundly, withWitnesses } from "./test-witness.ts";

const ORIGIN = "log.example/log/45ef13205b01e448/0";

/** The published checkpoint, and the names that signed it. */
const published = (world: PublishingWorld) =>
  Effect.map(world.standing, (standing) => {
    const parsed = parseCheckpoint(standing?.published ?? "");
    if ("fault" in parsed) throw new Error(parsed.fault);
    const { checkpoint, note } = parsed.value;
    const { size, isLast = false } = checkpoint;
    return { size, isLast, names: note.signatures.map(({ name }) => name) };
  });

test("a log that is ordered to end publishes its last checkpoint, and signs nothing more, in no process", async () => {
  const world = worldOf(20);
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    world.endOrdered = ORIGIN;
    yield* TestClock.adjust("5 seconds");
    expect(yield* published(world)).toEqual({ size: 21, isLast: true, names: [ORIGIN] });
    expect((yield* status).state).toBe("ended");
    world.grow(5);
    yield* grown(world.mark());
    yield* TestClock.adjust("30 minutes");
    expect((yield* published(world)).size).toBe(21);
  });
  const standing = await Effect.runPromise(world.standing);
  expect(standing?.ended).toBe(ENDED_BY_OPERATOR);
  // The order may be taken back: the log stays ended.
  world.endOrdered = null;
  expect(await world.publish([23, 25])).toBeNull();
  expect(new Set(world.signed.map(({ size }) => size))).toEqual(new Set([21]));
  expect(await Effect.runPromise(published(world))).toMatchObject({ size: 21, isLast: true });
});

test("an order for another log ends none", async () => {
  const world = worldOf(20);
  world.endOrdered = ORIGIN.replace(/0$/, "1");
  await world.publish();
  world.grow(2);
  await world.publish();
  expect(await Effect.runPromise(published(world))).toMatchObject({ size: 23, isLast: false });
});

test("witnesses cosign the last checkpoint, at a size that they have cosigned before", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(world, [soundly], "w0.example");
  if (witness === undefined) throw new Error("there is a witness");
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    witness.habit = answers(503);
    world.grow(3);
    yield* grown(world.mark());
    yield* TestClock.adjust("5 seconds");
    world.endOrdered = ORIGIN;
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).hindrance).toBe("ending");
    expect(yield* published(world)).toMatchObject({ size: 21, isLast: false });
    // It lacks that size for good: after half a minute a larger one is signed, and waited for.
    world.grow(3);
    yield* grown(world.mark());
    yield* TestClock.adjust("30 seconds");
    expect(world.signed.at(-1)?.size).toBe(27);
    witness.habit = soundly;
    yield* TestClock.adjust("90 seconds");
    const names = [ORIGIN, "w0.example"];
    expect(yield* published(world)).toEqual({ size: 27, isLast: true, names });
  });
});

test("a restarted process offers the last checkpoint to a witness that has not cosigned it", async () => {
  const world = worldOf(20);
  const [, slow] = withWitnesses(world, [soundly, answers(503)], "w0.example");
  if (slow === undefined) throw new Error("there is a witness");
  await world.publish();
  world.endOrdered = ORIGIN;
  await world.publish();
  expect(await Effect.runPromise(published(world))).toEqual({
    size: 21,
    isLast: true,
    names: [ORIGIN, "w0.example"],
  });
  slow.habit = soundly;
  world.grow(9);
  expect(await world.publish()).toBeNull();
  expect((await Effect.runPromise(published(world))).names).toEqual([
    ORIGIN,
    "w0.example",
    "w1.example",
  ]);
  expect(await Effect.runPromise(published(world))).toMatchObject({ size: 21, isLast: true });
});

test("a restarted process ends the log at what it has signed since", async () => {
  const world = worldOf(20);
  await world.publish();
  world.grow(3);
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    world.endOrdered = ORIGIN;
    yield* TestClock.adjust("5 minutes");
  });
  expect(await Effect.runPromise(published(world))).toMatchObject({ size: 24, isLast: true });
});

test("a data directory that is older than what the witnesses cosigned is ended where they stand, not before", async () => {
  const world = worldOf(20);
  withWitnesses(world, [soundly], "w0.example");
  await world.publish();
  const copy = await Effect.runPromise(world.store.standing);
  const keyFiles = [...world.keyFiles];
  world.grow(3);
  await world.publish();
  const newest = await Effect.runPromise(world.store.standing);
  await Effect.runPromise(world.store.replaceStanding(newest, copy ?? ""));
  for (const [key, text] of keyFiles) world.keyFiles.set(key, text);
  world.endOrdered = ORIGIN;
  await world.publish([20], 60);
  expect(await Effect.runPromise(published(world))).toMatchObject({ size: 21, isLast: false });
  await world.publish([23], 60);
  expect(await Effect.runPromise(published(world))).toMatchObject({ size: 24, isLast: true });
});

test("the end stands beside the key: a store of before it, and an empty one, are ended too", async () => {
  for (const isEmpty of [false, true]) {
    const world = worldOf(20);
    await world.publish();
    const before = await Effect.runPromise(world.store.standing);
    world.endOrdered = ORIGIN;
    await world.publish();
    world.endOrdered = null;
    if (isEmpty) world.store = logStoreOf(new IndexRows());
    else {
      const after = await Effect.runPromise(world.store.standing);
      await Effect.runPromise(world.store.replaceStanding(after, before ?? ""));
    }
    world.grow(4);
    expect(await world.publish()).toBeNull();
    const standing = await Effect.runPromise(world.standing);
    expect(standing).toMatchObject({
      ended: ENDED_BY_OPERATOR,
      signed: { size: 21, isLast: true },
    });
    expect(new Set(world.signed.map(({ size }) => size))).toEqual(new Set([21]));
  }
});

test("another process on the store takes the end over, beside its own key as well", async () => {
  const [world, other] = [worldOf(20), worldOf(25)];
  other.store = world.store;
  await world.publish();
  world.endOrdered = ORIGIN;
  await world.publish();
  expect(await other.publish()).toBeNull();
  expect(new Set(other.signed.map(({ size }) => size))).toEqual(new Set([21]));
  expect(other.keyFiles.get(1)).toContain('"isLast":true');
});

test("a process that gets the lease back ends the log at once where another one has published it", async () => {
  const [world, other] = [worldOf(20), worldOf(23)];
  withWitnesses(world, [soundly], "w0.example");
  Object.assign(other, { store: world.store, policy: world.policy, witness: world.witness });
  await world.run(function* ({ grown }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    world.isWriter = false;
    world.grow(3);
    yield* TestClock.adjust("10 seconds");
    yield* Effect.promise(() => other.publish());
    expect(yield* published(world)).toMatchObject({ size: 24, isLast: false });
    world.isWriter = true;
    world.endOrdered = ORIGIN;
    yield* grown(world.mark());
    yield* TestClock.adjust("15 seconds");
    expect(yield* published(world)).toMatchObject({ size: 24, isLast: true });
  });
});

test("a log does not end at a size that its witnesses have cosigned and lost since", async () => {
  const world = worldOf(20);
  const [witness] = withWitnesses(world, [soundly], "w0.example");
  if (witness === undefined) throw new Error("there is a witness");
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    // It begins anew, and its node has passed this size.
    witness.size = 0;
    witness.habit = answers(503);
    world.endOrdered = ORIGIN;
    yield* TestClock.adjust("10 seconds");
    expect((yield* status).hindrance).toBe("ending");
    world.grow(3);
    yield* grown(world.mark());
    witness.habit = (request) => (witness.asked.at(-1) === 24 ? soundly : answers(503))(request);
    yield* TestClock.adjust("2 minutes");
    expect(yield* published(world)).toMatchObject({ size: 24, isLast: true });
  });
});

test("another key begins the next log, and the ended log's key is refused from then on", async () => {
  const world = worldOf(20);
  await world.publish();
  world.endOrdered = ORIGIN;
  await world.publish();
  world.seed = 2;
  expect(await world.publish()).toBeNull();
  const standing = await Effect.runPromise(world.standing);
  expect(standing?.signed.origin).toBe(ORIGIN.replace(/0$/, "1"));
  expect(standing?.ended).toBeNull();
  expect(standing?.predecessors).toMatchObject([{ origin: ORIGIN, cause: ENDED_BY_OPERATOR }]);
  world.seed = 1;
  expect((await world.publish())?.reason).toContain(`the log ${ORIGIN} of this key has ended`);
});

test("a process that stops at any call while the log ends is gone on from, and ends it once", async () => {
  for (const dyingCallCounts of [false, true])
    for (let calls = 1; calls <= 24; calls++) {
      const world = worldOf(5);
      await world.publish();
      world.dyingCallCounts = dyingCallCounts;
      world.endOrdered = ORIGIN;
      world.callsLeft = calls;
      await world.publish();
      world.callsLeft = null;
      world.grow(2);
      await world.publish();
      const { size, isLast } = await Effect.runPromise(published(world));
      expect([isLast, size === 6 || size === 8]).toEqual([true, true]);
      world.grow(2);
      await world.publish();
      expect(await Effect.runPromise(published(world))).toMatchObject({ size, isLast: true });
    }
});
