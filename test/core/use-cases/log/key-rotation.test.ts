import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { parseSignedNote } from "../../../../core/log/notes/signed-note.ts";
import { verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { verifyNote } from "../../../../core/log/notes/verify-note.ts";
import { faultOfKeys } from "../../../../core/use-cases/log/signing/open-log.ts";
import type { PublisherStatus } from "../../../../core/use-cases/log/log-publisher.ts";
import { logKeyOf } from "../../../doubles/log-key.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";
import { answers, soundly, withWitnesses } from "./test-witness.ts";

const keyOf = (seed: number): Uint8Array => ed25519Key(new Uint8Array(32).fill(seed)).publicKey;
const hashOf = (seed: number) => hash32FromBytes(keyOf(seed));

/** The published checkpoint's size, and the seeds of the keys whose signatures verify under it, in its order. */
const publishedBy = (world: PublishingWorld) =>
  Effect.map(world.standing, (standing) => {
    const note = parseSignedNote(standing?.published ?? "");
    if (standing === null || "fault" in note) throw new Error("nothing is published");
    const [origin = "", size] = note.value.text.split("\n");
    const seeds = [1, 2, 3].filter((seed) => {
      const key = verifierKey(origin, "ed25519", keyOf(seed));
      return "value" in verifyNote(note.value, [key]);
    });
    return { size: Number(size), seeds };
  });

const keysOf = (world: PublishingWorld) =>
  Effect.map(world.standing, (standing) => {
    if (standing === null) throw new Error("nothing is signed");
    const { publicKey, nextKey, retiredKeys } = standing;
    return { publicKey, nextKey, retiredKeys };
  });

/** A world whose log has signed with key 1, and whose keys have one file beside them. */
const rotating = async (events = 20): Promise<PublishingWorld> => {
  const world = worldOf(events);
  world.fileOf = 1;
  await world.publish();
  return world;
};

const BOTH = { publicKey: hashOf(1), nextKey: hashOf(2), retiredKeys: [] };
const NEW = { publicKey: hashOf(2), nextKey: null, retiredKeys: [hashOf(1)] };

describe("in a process that runs", () => {
  test("a second key signs the published size as well, then alone, without an event", async () => {
    const world = await rotating();
    await world.run(function* ({ grown, status }) {
      yield* grown(world.mark());
      yield* TestClock.adjust("10 seconds");
      expect(yield* publishedBy(world)).toEqual({ size: 21, seeds: [1] });
      world.nextSeed = 2;
      yield* TestClock.adjust("5 seconds");
      expect(yield* publishedBy(world)).toEqual({ size: 21, seeds: [1, 2] });
      expect(yield* keysOf(world)).toEqual(BOTH);
      world.grow(3);
      yield* grown(world.mark());
      yield* TestClock.adjust("5 seconds");
      expect(yield* publishedBy(world)).toEqual({ size: 24, seeds: [1, 2] });
      [world.seed, world.nextSeed] = [2, null];
      yield* TestClock.adjust("10 seconds");
      expect(yield* publishedBy(world)).toEqual({ size: 24, seeds: [2] });
      expect(yield* keysOf(world)).toEqual(NEW);
      expect((yield* status).hindrance).toBeNull();
    });
    expect(world.keyFiles.get(1)).toContain(hashOf(2));
  });

  test("a second key stands in the file beside the keys, which retire-key reads, before a status can show it", async () => {
    const world = await rotating();
    const { store } = world;
    const inFile: Array<boolean> = [];
    world.store = {
      ...store,
      replaceStanding: (before, next) => {
        if (next.includes(`"nextKey":"${hashOf(2)}"`))
          inFile.push(world.keyFiles.get(1)?.includes(hashOf(2)) === true);
        return store.replaceStanding(before, next);
      },
    };
    world.nextSeed = 2;
    await world.publish();
    expect(inFile[0]).toBe(true);
  });

  test("the old key stays in the log's keys until a checkpoint of the new one is published", async () => {
    const world = worldOf(20);
    world.fileOf = 1;
    const [witness] = withWitnesses(world, [soundly], "w0.example");
    if (witness === undefined) throw new Error("there is a witness");
    await world.publish();
    witness.habit = answers(503);
    world.nextSeed = 2;
    await world.publish();
    [world.seed, world.nextSeed] = [2, null];
    await world.publish();
    expect(await Effect.runPromise(publishedBy(world))).toEqual({ size: 21, seeds: [1] });
    expect(await Effect.runPromise(keysOf(world))).toEqual(BOTH);
    witness.habit = soundly;
    await world.publish();
    expect(await Effect.runPromise(publishedBy(world))).toEqual({ size: 21, seeds: [2] });
    expect(await Effect.runPromise(keysOf(world))).toEqual(NEW);
  });
});

test("a new key that was never the second one of an overlap is refused", async () => {
  const world = await rotating();
  world.seed = 2;
  expect((await world.publish())?.reason).toContain("another key signs the log");
});

test("a retired key signs nothing more, whatever it has beside it", async () => {
  const world = await rotating();
  world.nextSeed = 2;
  await world.publish();
  [world.seed, world.nextSeed] = [2, null];
  await world.publish();
  world.nextSeed = 1;
  await world.publish();
  expect(await Effect.runPromise(keysOf(world))).toEqual(NEW);
  world.seed = 1;
  world.nextSeed = null;
  expect((await world.publish())?.reason).toContain("another key signs the log");
});

describe("two processes with files of their own", () => {
  const statusOf = async (world: PublishingWorld): Promise<PublisherStatus> => {
    let seen: PublisherStatus | undefined;
    await world.run(function* ({ grown, status }) {
      yield* grown(world.mark());
      yield* TestClock.adjust("10 seconds");
      seen = yield* status;
    });
    if (seen === undefined) throw new Error("the process was refused");
    return seen;
  };

  test("one without the second key signs with the first and says so", async () => {
    const [world, other] = [await rotating(), worldOf(23)];
    other.store = world.store;
    other.keyFiles.set(1, world.keyFiles.get(1) ?? "");
    world.nextSeed = 2;
    await world.publish();
    expect((await statusOf(other)).hindrance).toBe("log_key_missing");
    expect(await Effect.runPromise(publishedBy(other))).toEqual({ size: 24, seeds: [1] });
    expect(await Effect.runPromise(keysOf(other))).toEqual(BOTH);
  });

  test("one that signs with both adds its line to what the other one published, long before the next offer is due", async () => {
    for (const isWitnessed of [false, true]) {
      const [world, other] = [await rotating(), worldOf(20)];
      const witnesses = isWitnessed ? withWitnesses(world, [soundly, soundly], "w0.example") : [];
      [other.policy, other.witness, other.store] = [world.policy, world.witness, world.store];
      other.keyFiles.set(1, world.keyFiles.get(1) ?? "");
      world.nextSeed = 2;
      await world.run(function* ({ grown, status }) {
        yield* grown(world.mark());
        yield* TestClock.adjust("5 seconds");
        expect(yield* publishedBy(world)).toEqual({ size: 21, seeds: [1, 2] });
        // The lease goes to the other one, and comes back with the mark of a sync.
        yield* Effect.promise(() => other.publish());
        expect(yield* publishedBy(world)).toEqual({ size: 21, seeds: [1] });
        yield* grown(world.mark());
        yield* TestClock.adjust("5 seconds");
        expect(yield* publishedBy(world)).toEqual({ size: 21, seeds: [1, 2] });
        expect((yield* status).hindrance).toBeNull();
        // Nothing lacks any more, so it is signed and offered no more than before.
        const [signed, asked] = [world.signed.length, witnesses.flatMap((each) => each.asked)];
        yield* grown(world.mark());
        yield* TestClock.adjust("5 seconds");
        expect(world.signed.length).toBe(signed);
        expect(witnesses.flatMap((each) => each.asked)).toEqual(asked);
      });
    }
  });

  test("one that still has the old key beside the new one signs with the new one alone", async () => {
    const [world, other] = [await rotating(), worldOf(23)];
    other.store = world.store;
    world.nextSeed = 2;
    await world.publish();
    other.keyFiles.set(1, world.keyFiles.get(1) ?? "");
    [world.seed, world.nextSeed] = [2, null];
    await world.publish();
    other.nextSeed = 2;
    expect((await statusOf(other)).hindrance).toBeNull();
    expect(await Effect.runPromise(publishedBy(other))).toEqual({ size: 24, seeds: [2] });
    expect(await Effect.runPromise(keysOf(other))).toEqual(NEW);
  });

  test("one that runs with the retired key alone signs nothing", async () => {
    const [world, other] = [await rotating(), worldOf(20)];
    other.store = world.store;
    other.keyFiles.set(1, world.keyFiles.get(1) ?? "");
    await other.run(function* ({ grown, status }) {
      yield* grown(other.mark());
      yield* TestClock.adjust("5 seconds");
      world.nextSeed = 2;
      yield* Effect.promise(() => world.publish());
      [world.seed, world.nextSeed] = [2, null];
      yield* Effect.promise(() => world.publish());
      const before = other.signed.length;
      other.grow(3);
      yield* grown(other.mark());
      yield* TestClock.adjust("20 seconds");
      expect(other.signed.length).toBe(before);
      expect((yield* status).hindrance).toBe("log_key_missing");
    });
    expect(await Effect.runPromise(keysOf(world))).toEqual(NEW);
  });
});

test("a store of before the rotation takes the keys over from the file beside the key", async () => {
  const world = await rotating();
  const before = await Effect.runPromise(world.store.standing);
  world.nextSeed = 2;
  await world.publish();
  [world.seed, world.nextSeed] = [2, null];
  await world.publish();
  const after = await Effect.runPromise(world.store.standing);
  await Effect.runPromise(world.store.replaceStanding(after, before ?? ""));
  await world.publish();
  expect(await Effect.runPromise(keysOf(world))).toEqual(NEW);
  expect(await Effect.runPromise(publishedBy(world))).toEqual({ size: 21, seeds: [2] });
});

test("a process that stops at any call of the rotation is gone on from", async () => {
  for (const dyingCallCounts of [false, true])
    for (let calls = 1; calls <= 24; calls++) {
      const world = await rotating(5);
      world.dyingCallCounts = dyingCallCounts;
      world.nextSeed = 2;
      world.callsLeft = calls;
      await world.publish();
      world.callsLeft = null;
      await world.publish();
      expect(await Effect.runPromise(keysOf(world))).toEqual(BOTH);
      expect(await Effect.runPromise(publishedBy(world))).toEqual({ size: 6, seeds: [1, 2] });
      [world.seed, world.nextSeed] = [2, null];
      world.callsLeft = calls;
      await world.publish();
      world.callsLeft = null;
      await world.publish();
      expect(await Effect.runPromise(keysOf(world))).toEqual(NEW);
      expect(await Effect.runPromise(publishedBy(world))).toEqual({ size: 6, seeds: [2] });
    }
});

test("two keys with the same id are refused", async () => {
  const origin = "log.example/log/45ef13205b01e448/0";
  const seedOf = (number: number): Uint8Array => {
    const seed = new Uint8Array(32);
    new DataView(seed.buffer).setUint32(0, number);
    return seed;
  };
  // Found by trying some 50,000 seeds: an id has 32 bits.
  const [one, other] = [35_666, 48_705].map((number) => logKeyOf(seedOf(number)));
  if (one === undefined || other === undefined) throw new Error("there are two keys");
  const keys = await Effect.runPromise(Effect.all([one.keys, other.keys]));
  const publicKeys = keys.map(([{ publicKey }]) => publicKey);
  expect(faultOfKeys(origin, publicKeys)).toContain("have the same id 7a5180ff");
  expect(faultOfKeys(`${origin}0`, publicKeys)).toBeNull();
});
