import { expect, test } from "bun:test";
import { Effect, Queue } from "effect";
import { TestClock } from "effect/testing";
import { eventLeaf, say, WitnessWorld } from "./support/witness-world.ts";

/** How often a witness whose node's news it follows reads that node in a time in which nobody offers anything. */
const readsIn = (world: WitnessWorld, time: "1 minute" | "10 minutes") =>
  Effect.gen(function* () {
    const before = world.nodeReads;
    yield* TestClock.adjust(time);
    return world.nodeReads - before;
  });

/** Runs steps beside a witness over five events, whose node's WebSocket works. */
const listening = (steps: (world: WitnessWorld) => Effect.Effect<void>) => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      yield* world.witness;
      yield* world.listens;
      yield* steps(world);
    }),
  );
};

test("without news the node is read every two seconds, with news every half minute", () => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      yield* world.witness;
      yield* TestClock.adjust("1 second");
      expect(yield* readsIn(world, "1 minute")).toBe(30);
      yield* world.listens;
      expect(yield* readsIn(world, "10 minutes")).toBe(20);
    }),
  );
});

test("a subscription that is taken and sends nothing changes nothing", () => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      yield* world.witness;
      yield* Queue.offer(world.news, { kind: "taken" });
      yield* TestClock.adjust("1 second");
      expect(yield* readsIn(world, "1 minute")).toBe(30);
    }),
  );
});

test("a change that is told is looked at once, and what is told again causes no look", () =>
  listening((world) =>
    Effect.gen(function* () {
      const before = world.nodeReads;
      world.grow(3);
      for (let times = 0; times < 5; times++) {
        yield* world.tell();
        yield* TestClock.adjust("400 millis");
      }
      expect(world.nodeReads - before).toBe(1);
      expect(yield* readsIn(world, "10 minutes")).toBe(20);
    }),
  ));

test("a socket that is up and silent is noticed by the next look, and believed again once it tells", () =>
  listening((world) =>
    Effect.gen(function* () {
      world.grow(1);
      yield* TestClock.adjust("30 seconds");
      expect(yield* readsIn(world, "1 minute")).toBe(30);
      yield* Queue.offer(world.news, { kind: "pushed" });
      expect(yield* readsIn(world, "1 minute")).toBe(30);
      yield* world.tell();
      yield* TestClock.adjust("2 seconds");
      expect(yield* readsIn(world, "10 minutes")).toBe(20);
    }),
  ));

test("a connection that is lost is noticed at once, and the next one counts from its first notification", () =>
  listening((world) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds");
      const before = world.nodeReads;
      yield* Queue.offer(world.news, { kind: "lost" });
      yield* TestClock.adjust("1 millis");
      expect(world.nodeReads - before).toBe(1);
      expect(yield* readsIn(world, "1 minute")).toBe(30);
      yield* Queue.offer(world.news, { kind: "taken" });
      expect(yield* readsIn(world, "1 minute")).toBe(30);
      yield* Queue.offer(world.news, { kind: "pushed" });
      yield* TestClock.adjust("2 seconds");
      expect(yield* readsIn(world, "10 minutes")).toBe(20);
    }),
  ));

test("false news cost one look each time they are believed, and no more than one every two seconds after", () =>
  listening((world) =>
    Effect.gen(function* () {
      const before = world.nodeReads;
      for (let second = 0; second < 60; second++) {
        yield* world.tell([eventLeaf(second)]);
        yield* TestClock.adjust("1 second");
      }
      expect(world.nodeReads - before).toBeLessThanOrEqual(31);
      yield* world.tell();
      yield* TestClock.adjust("2 seconds");
      expect(yield* readsIn(world, "10 minutes")).toBe(20);
    }),
  ));

test("an account that cannot be read is false news", () =>
  listening((world) =>
    Effect.gen(function* () {
      yield* Queue.offer(world.news, { kind: "changed", account: null });
      expect(yield* readsIn(world, "1 minute")).toBeGreaterThanOrEqual(30);
    }),
  ));

test("a flood of true and false news in turn costs one look a slot", () =>
  listening((world) =>
    Effect.gen(function* () {
      const before = world.nodeReads;
      for (let turn = 0; turn < 600; turn++) {
        yield* world.tell(turn % 2 === 0 ? 2 : 5);
        yield* TestClock.adjust("100 millis");
      }
      expect(world.nodeReads - before).toBeLessThanOrEqual(151);
    }),
  ));

test("nothing is cosigned because of news: what a look shows counts", () => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      const witness = yield* world.witness;
      yield* world.listens;
      world.nodeEvents = () => 3;
      yield* world.tell(5);
      yield* TestClock.adjust("1 second");
      expect(yield* say(witness, world.log.offer(0, 6))).toBe("node_behind");
      // A root that only the news tell of contradicts no honest log.
      yield* world.tell(world.events.map(() => eventLeaf(7)));
      world.nodeEvents = () => world.events.length;
      yield* TestClock.adjust("2 seconds");
      expect(yield* say(witness, world.log.offer(0, 6))).toBe("cosigned");
    }),
  );
});

test("a cosignature rests on a read of at most two seconds before, also while the news are relied on", () => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      const witness = yield* world.witness;
      yield* world.listens;
      expect(yield* say(witness, world.log.offer(0, 6))).toBe("cosigned");
      yield* TestClock.adjust("10 seconds");
      const before = world.nodeReads;
      expect(yield* say(witness, world.log.offer(6, 6))).toBe("cosigned");
      expect(world.nodeReads - before).toBe(1);
      world.nodeEvents = () => null;
      yield* TestClock.adjust("3 seconds");
      expect(yield* say(witness, world.log.offer(6, 6))).toBe("node_unavailable");
    }),
  );
});

test("while the node does not answer it is asked every two seconds, whatever the news say", () =>
  listening((world) =>
    Effect.gen(function* () {
      world.nodeEvents = () => null;
      yield* TestClock.adjust("30 seconds");
      world.nodeEvents = () => 5;
      const before = world.nodeReads;
      yield* TestClock.adjust("2 seconds");
      expect(world.nodeReads - before).toBeGreaterThanOrEqual(1);
    }),
  ));
