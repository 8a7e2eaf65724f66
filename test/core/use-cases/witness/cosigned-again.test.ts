import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { eventLeaf, say, WitnessWorld } from "./support/witness-world.ts";

/** Runs steps after the witness has cosigned all six leaves of a world, and its node's answer has become old. */
const afterCosigning = (
  steps: (
    world: WitnessWorld,
    offer: (oldSize: number, size: number) => Effect.Effect<string>,
  ) => Effect.Effect<void>,
) => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      const witness = yield* world.witness;
      const offer = (oldSize: number, size: number) =>
        Effect.suspend(() => say(witness, world.log.offer(oldSize, size)));
      expect(yield* offer(0, 6)).toBe("cosigned");
      yield* steps(world, offer);
    }),
  );
};

describe("the size cosigned last is cosigned again only as the node shows it", () => {
  test("the node is down", () =>
    afterCosigning((world, offer) =>
      Effect.gen(function* () {
        world.nodeEvents = () => null;
        yield* TestClock.adjust("3 seconds");
        expect(yield* offer(6, 6)).toBe("node_unavailable");
        world.nodeEvents = () => world.events.length;
        expect(yield* offer(6, 6)).toBe("cosigned");
      }),
    ));

  test("the node is rolled back", () =>
    afterCosigning((world, offer) =>
      Effect.gen(function* () {
        world.nodeEvents = () => 3;
        yield* TestClock.adjust("3 seconds");
        expect(yield* offer(6, 6)).toBe("node_rolled_back");
        world.nodeEvents = () => world.events.length;
        yield* TestClock.adjust("3 seconds");
        expect(yield* offer(6, 6)).toBe("cosigned");
      }),
    ));

  test("the node shows another history", () =>
    afterCosigning((world, offer) =>
      Effect.gen(function* () {
        world.nodeEvents = () => world.events.map(() => eventLeaf(7));
        yield* TestClock.adjust("3 seconds");
        expect(yield* offer(6, 6)).toBe("node_contradicts_itself");
      }),
    ));

  test("the node is ahead: for five minutes, and longer once the log's tiles lead there", () =>
    afterCosigning((world, offer) =>
      Effect.gen(function* () {
        world.grow(4);
        yield* TestClock.adjust("4 minutes");
        expect(yield* offer(6, 6)).toBe("cosigned");
        yield* TestClock.adjust("70 seconds");
        expect(yield* offer(6, 6)).toBe("node_ahead");
        world.follow();
        world.log.servedSize = 10;
        expect(yield* offer(6, 6)).toBe("cosigned");
        world.log.leaves[8] = eventLeaf(7);
        expect(yield* offer(6, 6)).toBe("CheckpointRefused");
      }),
    ));
});

test("a remembered size is not cosigned while the node shows fewer events", () =>
  afterCosigning((world, offer) =>
    Effect.gen(function* () {
      world.grow(4);
      world.follow();
      yield* TestClock.adjust("2 seconds");
      world.nodeEvents = () => 7;
      yield* TestClock.adjust("2 seconds");
      expect(yield* offer(6, 10)).toBe("node_behind");
      world.nodeEvents = () => world.events.length;
      yield* TestClock.adjust("2 seconds");
      expect(yield* offer(6, 10)).toBe("cosigned");
    }),
  ));

test("a restarted witness compares with its node as well", () => {
  const world = WitnessWorld.after(5);
  return world.run(
    Effect.gen(function* () {
      expect(yield* say(yield* world.witness, world.log.offer(0, 6))).toBe("cosigned");
      world.grow(1);
      const restarted = yield* world.witness;
      expect(yield* say(restarted, world.log.offer(6, 6))).toBe("node_ahead");
      world.follow();
      world.log.servedSize = 7;
      expect(yield* say(restarted, world.log.offer(6, 6))).toBe("cosigned");
    }),
  );
});

test("offers of a size that is remembered add no reads to those of every two seconds", () =>
  afterCosigning((world, offer) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("2 seconds");
      const before = world.nodeReads;
      for (let second = 0; second < 60; second++) {
        expect(yield* offer(6, 6)).toBe("cosigned");
        yield* TestClock.adjust("1 seconds");
      }
      expect(world.nodeReads - before).toBeLessThanOrEqual(30);
      // Unoffered, the witness asks its node as often.
      const offered = world.nodeReads;
      yield* TestClock.adjust("60 seconds");
      expect(world.nodeReads - offered).toBe(30);
    }),
  ));
