import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { IndexRows } from "../../../../adapters/memory/index-rows.ts";
import { logStoreOf } from "../../../../adapters/memory/log-rows.ts";
import { someLeaves } from "../../log/support/reference-tree.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";

const standingOf = (world: PublishingWorld) => Effect.runPromise(world.standing);
const publishedSizeOf = (world: PublishingWorld) => Effect.runPromise(world.publishedSize);
/**
 * Publishes leaves that contradict what was signed until the log ends for it: the only node shows them for five
 * minutes.
 */
const publishContradiction = (world: PublishingWorld) => world.publish([world.leaves.length], 400);
const sizesOf = ({ signed }: PublishingWorld) => [...new Set(signed.map(({ size }) => size))];

test("a ledger without events has a log of leaf 0 alone", async () => {
  const world = worldOf(0);
  expect(await world.publish()).toBeNull();
  expect(await publishedSizeOf(world)).toBe(1);
});

test("every size of a growing ledger is signed with the root of RFC 6962, in one process", async () => {
  const world = worldOf(40);
  const counts = Array.from({ length: 41 }, (_, count) => count);
  expect(await world.publish(counts)).toBeNull();
  expect(sizesOf(world)).toEqual(counts.map((count) => count + 1));
});

test("roots are those of RFC 6962 around full tiles, with a restart before each", async () => {
  const world = worldOf(0);
  for (const count of [254, 255, 256, 257, 511, 512, 600, 4_095, 4_097, 5_000]) {
    world.grow(count - world.leaves.length);
    expect(await world.publish()).toBeNull();
    expect(await publishedSizeOf(world)).toBe(count + 1);
  }
});

test("a root is signed of a ledger that has a full tile of the second level", async () => {
  const world = worldOf(65_700);
  expect(await world.publish([300, 65_700])).toBeNull();
  expect(sizesOf(world)).toEqual([301, 65_701]);
});

test("at most one checkpoint is signed in a second, of the newest mark", async () => {
  const world = worldOf(30);
  await world.run(function* ({ grown }) {
    for (let count = 0; count <= 30; count++) {
      yield* grown(world.mark(count));
      yield* TestClock.adjust(100);
    }
  });
  expect(sizesOf(world).length).toBeLessThanOrEqual(4);
});

/**
 * A world whose process was killed at each of its calls of the store and the key, before or after the call took effect.
 */
const killedWorlds = async function* () {
  for (const dyingCallCounts of [false, true])
    for (let calls = 1, survived = false; !survived; calls++) {
      const world = worldOf(700);
      world.dyingCallCounts = dyingCallCounts;
      world.callsLeft = calls;
      await world.publish([100, 300, 520]);
      survived = world.callsLeft > 0;
      world.callsLeft = null;
      yield world;
    }
};

test("a process that is killed between any two calls is continued; no tile of a checkpoint is missing", async () => {
  let worlds = 0;
  for await (const world of killedWorlds()) {
    worlds += 1;
    expect(await world.publish([600, 700])).toBeNull();
    expect(await publishedSizeOf(world)).toBe(701);
  }
  expect(worlds).toBeGreaterThan(40);
});

test("after a kill between any two calls another history never gets a second root for one size", async () => {
  const outcomes = new Set<string>();
  for await (const world of killedWorlds()) {
    const didSign = world.signed.length > 0;
    world.leaves = someLeaves(700, 7);
    // The world throws when a size is signed with two roots.
    const refused = await publishContradiction(world);
    expect(refused).toBeNull();
    const isEnded = (await standingOf(world))?.ended !== null;
    if (didSign) expect(isEnded).toBe(true);
    else if (!isEnded) expect(await publishedSizeOf(world)).toBe(701);
    outcomes.add(`signed: ${didSign}, ended: ${isEnded}`);
  }
  // A process that died after it noted the head, but before it signed, ends its log as well: nobody can tell the two
  // apart.
  expect(outcomes).toEqual(
    new Set([
      "signed: false, ended: false",
      "signed: false, ended: true",
      "signed: true, ended: true",
    ]),
  );
});

test("a restored older store signs nothing until the size that was signed is derived again", async () => {
  const world = worldOf(600);
  await world.publish([300]);
  const old = await Effect.runPromise(world.store.standing);
  await world.publish([600]);
  const before = world.signed.length;
  world.store = logStoreOf(new IndexRows());
  await Effect.runPromise(world.store.replaceStanding(null, old ?? ""));
  const later = world.leaves;
  world.leaves = later.slice(0, 400);
  let hindrance: unknown;
  await world.run((publisher) =>
    Effect.gen(function* () {
      yield* publisher.grown(world.mark());
      yield* TestClock.adjust("30 seconds");
      hindrance = (yield* publisher.status).hindrance;
      expect(world.signed.length).toBe(before);
      world.leaves = later;
      yield* publisher.grown(world.mark());
      yield* TestClock.adjust("30 seconds");
      expect((yield* publisher.status).hindrance).toBeNull();
    }),
  );
  expect(hindrance).toBe("signed_size_not_derived_yet");
  expect(await publishedSizeOf(world)).toBe(601);
  expect(sizesOf(world)).toEqual([301, 601]);
});

test("another root at the size that was signed ends the log, naming the first differing leaf", async () => {
  const world = worldOf(600);
  await world.publish();
  const checkpoint = (await standingOf(world))?.published;
  world.leaves = [...world.leaves.slice(0, 9), ...someLeaves(591, 7)];
  const before = world.signed.length;
  expect(await publishContradiction(world)).toBeNull();
  const ended = await standingOf(world);
  expect(ended?.ended).toBe(
    "the ledger's events give another root at size 601 than was signed; the first leaf that differs is 10",
  );
  expect(ended?.published).toBe(checkpoint ?? "");
  world.grow(5);
  const refused = await world.publish();
  expect(refused?.message).toContain("of this key has ended");
  expect(world.signed.length).toBe(before);
});

test("a history that is rewritten under a running process ends the log as well", async () => {
  const world = worldOf(300);
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    world.leaves = someLeaves(310, 7);
    yield* grown(world.mark());
    yield* TestClock.adjust("4 minutes");
    expect((yield* status).hindrance).toBe("nodes_disagree");
    expect((yield* world.standing)?.ended).toBeNull();
    yield* TestClock.adjust("3 minutes");
    expect((yield* status).hindrance).toBe("ended");
  });
  expect(sizesOf(world)).toEqual([301]);
});

test("a running process signs nothing more once another one has ended the log", async () => {
  const world = worldOf(300);
  await world.run(function* ({ grown, status }) {
    yield* grown(world.mark());
    yield* TestClock.adjust("10 seconds");
    const before = yield* world.store.standing;
    const ended = { ...JSON.parse(before ?? "null"), ended: "two roots were signed" };
    yield* world.store.replaceStanding(before, JSON.stringify(ended));
    world.grow(10);
    yield* grown(world.mark());
    yield* TestClock.adjust("30 seconds");
    expect((yield* status).hindrance).toBe("ended");
  });
  expect(sizesOf(world)).toEqual([301]);
});

test("an ended log's successor has the next generation and another key, and begins at leaf 0", async () => {
  const world = worldOf(300);
  await world.publish();
  world.leaves = someLeaves(300, 7);
  await publishContradiction(world);
  world.seed = 2;
  expect(await world.publish()).toBeNull();
  const origins = [...new Set(world.signed.map(({ origin }) => origin))];
  expect(origins.map((origin) => origin.split("/").at(-1))).toEqual(["0", "1"]);
  const standing = await standingOf(world);
  expect(standing?.ended).toBeNull();
  expect(standing?.predecessors).toMatchObject([{ origin: origins[0], size: 301 }]);
  expect(await publishedSizeOf(world)).toBe(301);
  // Its tiles are beside those of the log that ended.
  const [first, second] = await Promise.all(
    ["0/tile/0/000", "1/tile/0/000"].map((path) => Effect.runPromise(world.store.tile(path))),
  );
  expect(first).not.toBeNull();
  expect(first).not.toEqual(second ?? null);
  world.seed = 1;
  expect((await world.publish())?.message).toContain("of this key has ended");
});

test("a key's file alone keeps an ended log from going on in an older store", async () => {
  const world = worldOf(300);
  await world.publish();
  const old = await Effect.runPromise(world.store.standing);
  world.leaves = someLeaves(300, 7);
  await publishContradiction(world);
  world.store = logStoreOf(new IndexRows());
  await Effect.runPromise(world.store.replaceStanding(null, old ?? ""));
  expect((await world.publish())?.message).toContain("of this key has ended");
});

test("two roots of one size, in the store and beside the key, end the log", async () => {
  const [world, copy] = [worldOf(300), worldOf(0)];
  await world.publish();
  copy.leaves = someLeaves(300, 7);
  await copy.publish();
  world.keyFiles.set(1, copy.keyFiles.get(1) ?? "");
  world.grow(3);
  const before = world.signed.length;
  await publishContradiction(world);
  expect((await standingOf(world))?.ended).toContain("another root at size 301");
  expect(world.signed.length).toBe(before);
});

test("damaged kept tiles are made anew from the leaves", async () => {
  const world = worldOf(600);
  await world.publish();
  const path = "0/tile/0/000";
  const tile = await Effect.runPromise(world.store.tile(path));
  for (const bytes of [new Uint8Array(8192), new Uint8Array(5)]) {
    await Effect.runPromise(world.store.keepTiles([{ path, bytes }]));
    world.grow(1);
    expect(await world.publish()).toBeNull();
  }
  expect(await publishedSizeOf(world)).toBe(603);
  await Effect.runPromise(world.store.keepTiles([{ path, bytes: new Uint8Array(8192) }]));
  world.grow(1);
  await world.publish();
  expect(await Effect.runPromise(world.store.tile(path))).toEqual(tile);
});

test("another LOG_NAME is refused, and both are named", async () => {
  const world = worldOf(3);
  await world.publish();
  world.name = "other.example";
  const refused = await world.publish();
  expect(refused?.message).toContain("LOG_NAME is other.example, but the log is named log.example");
});

test("another key of a log that goes on is refused", async () => {
  const world = worldOf(3);
  await world.publish();
  world.seed = 2;
  expect((await world.publish())?.message).toContain("another key signs the log log.example/log/");
  expect(await publishedSizeOf(world)).toBe(4);
});

test("a standing that cannot be read is refused", async () => {
  const world = worldOf(3);
  world.keyFiles.set(1, "{}");
  expect((await world.publish())?.message).toContain(
    "the file of key 1 is not what the key writes there. Put a copy of it back",
  );
});

test("leaves that do not give the mark's root sign nothing", async () => {
  const world = worldOf(10);
  const told: Array<unknown> = [];
  world.logged = (text) => void told.push(text);
  await world.run(function* ({ grown, status }) {
    yield* grown({ ...world.mark(), frontier: world.mark(9).frontier });
    yield* TestClock.adjust("30 seconds");
    expect((yield* status).hindrance).toBe("store_or_ledger_unavailable");
    yield* grown(world.mark());
    yield* TestClock.adjust("30 seconds");
    expect((yield* status).hindrance).toBeNull();
  });
  expect(sizesOf(world)).toEqual([11]);
  expect(told.flat().filter((text) => String(text).startsWith("the settlement log"))).toEqual([
    "the settlement log could not be published, and is tried again",
    "the settlement log is published again",
  ]);
});
