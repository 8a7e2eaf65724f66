import { expect, test } from "bun:test";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { parseSignatures } from "../../../../core/log/notes/signed-note.ts";
import { verifyNote } from "../../../../core/log/notes/verify-note.ts";
import type { Tile } from "../../../../core/log/tiles/tile-path.ts";
import { WitnessState } from "../../../../ports/log/witness-state.ts";
import { ORIGIN, say, WITNESS_KEY, WitnessWorld } from "./support/witness-world.ts";

/** Lets the node's WebSocket tell of a change, and the witness look. */
const signalled = (world: WitnessWorld) =>
  Effect.andThen(world.tell(), TestClock.adjust("400 millis"));

test("a growing log is cosigned size by size, and the state is that of the last one", () => {
  const world = new WitnessWorld();
  return world.run(function* (witness) {
    let last = 0;
    for (const more of [0, 1, 254, 1, 1, 600, 3]) {
      world.grow(more);
      world.follow();
      const size = world.events.length + 1;
      expect(yield* say(witness, world.log.offer(last, size))).toBe("cosigned");
      const kept = yield* WitnessState.use((state) => state.read(ORIGIN));
      expect(kept?.size).toBe(size);
      expect(kept?.root).toEqual(world.log.root(size));
      last = size;
    }
  });
});

test("the cosignature is of the witness's key, over that very checkpoint, and states the clock's time", () => {
  const world = WitnessWorld.after(5);
  return world.run(function* (witness) {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1) + 5999);
    const body = world.log.offer(0, 6);
    const answer = yield* witness(body);
    if (answer.kind !== "cosigned") throw new Error("not cosigned");
    const parsed = parseCheckpoint(world.log.note(6, world.log.root(6)));
    const signatures = parseSignatures(answer.lines);
    if ("fault" in parsed || "fault" in signatures) throw new Error("unreadable");
    const { text } = parsed.value.note;
    const verified = verifyNote({ text, signatures: signatures.value }, [WITNESS_KEY]);
    expect(verified).toEqual({
      value: [{ key: WITNESS_KEY, time: BigInt(Date.UTC(2026, 0, 1) / 1000 + 5) }],
    });
  });
});

test("the checkpoint cosigned last is cosigned again with a later time, without reading the log", () => {
  const world = WitnessWorld.after(5);
  return world.run(function* (witness) {
    const first = yield* witness(world.log.offer(0, 6));
    const { reads } = world.log;
    yield* TestClock.adjust("10 minutes");
    const again = yield* witness(world.log.offer(6, 6));
    expect(again).toMatchObject({ kind: "cosigned" });
    expect(again).not.toEqual(first);
    expect(world.log.reads).toBe(reads);
  });
});

test("an old size other than that cosigned last is a conflict with that size", () => {
  const world = WitnessWorld.after(9);
  return world.run(function* (witness) {
    const replayed = world.log.offer(0, 6);
    world.log.servedSize = 10;
    expect(yield* say(witness, world.log.offer(3, 6))).toBe("conflict 0");
    expect(yield* say(witness, replayed)).toBe("cosigned");
    expect(yield* say(witness, world.log.offer(6, 10))).toBe("cosigned");
    // An earlier request, as somebody may have kept it.
    expect(yield* say(witness, replayed)).toBe("conflict 10");
    expect(yield* say(witness, world.log.offer(10, 6))).toBe("CheckpointMalformed");
  });
});

test("a node behind the checkpoint makes it wait, and the same request is cosigned later", () => {
  const world = WitnessWorld.after(9);
  return world.run(function* (witness) {
    const body = world.log.offer(0, 10);
    world.nodeEvents = () => world.events.slice(0, 8);
    expect(yield* say(witness, body)).toBe("node_behind");
    expect(yield* WitnessState.use((state) => state.read(ORIGIN))).toBeNull();
    world.nodeEvents = () => null;
    expect(yield* say(witness, body)).toBe("node_unavailable");
    world.nodeEvents = () => world.events;
    expect(yield* say(witness, body)).toBe("cosigned");
  });
});

test("a size that the node has shown is cosigned, and nothing of the log is read", () => {
  const world = WitnessWorld.after(900);
  return world.run(function* (witness) {
    const body = world.log.offer(0, 901);
    world.log.isDown = true;
    expect(yield* say(witness, body)).toBe("cosigned");
    expect(world.log.reads).toBe(0);
  });
});

test.each([
  ["every two seconds", () => TestClock.adjust("2 seconds")],
  ["when the node tells of a change", signalled],
])(
  "a witness looks at its node %s, and cosigns what it saw once the node has moved on",
  (_, look) => {
    const world = new WitnessWorld();
    return world.run(function* (witness) {
      if (look === signalled) yield* world.listens;
      const sizes: Array<number> = [];
      for (let round = 0; round < 5; round++) {
        world.grow(7);
        yield* look(world);
        sizes.push(world.events.length + 1);
      }
      world.follow();
      world.log.isDown = true;
      let last = 0;
      for (const size of sizes) {
        expect(yield* say(witness, world.log.offer(last, size))).toBe("cosigned");
        last = size;
      }
      expect(world.log.reads).toBe(0);
    });
  },
);

test("a node ahead: the log's tiles lead from the checkpoint to the size that the node has shown", () => {
  const world = WitnessWorld.after(900);
  return world.run(function* (witness) {
    const body = world.log.offer(0, 250);
    world.log.servedSize = 901;
    expect(yield* say(witness, body)).toBe("cosigned");
    const kept = yield* WitnessState.use((state) => state.read(ORIGIN));
    expect(kept).toEqual({ size: 250, root: world.log.root(250) });
    // The tiles that hold the hashes of the proof, and no more.
    expect(world.log.reads).toBeLessThanOrEqual(4);
  });
});

test("a busy ledger: a root seen earlier vouches for the checkpoint once the log has signed that far", () => {
  const world = new WitnessWorld();
  return world.run(function* (witness) {
    let last = 0;
    for (let round = 0; round < 15; round++) {
      world.grow(40);
      world.follow();
      const size = world.events.length + 1;
      // Events go on between the log's signing and the witness's read, always.
      world.grow(7);
      const body = world.log.offer(last, size);
      expect(yield* say(witness, body)).toBe("node_ahead");
      // A second later the log has signed beyond the first read, and the node has moved on again.
      world.follow();
      world.log.servedSize = world.events.length + 1;
      world.grow(5);
      expect(yield* say(witness, body)).toBe("cosigned");
      last = size;
    }
  });
});

test("a tile may have become full since: the log need not serve the partial one any more", () => {
  const world = WitnessWorld.after(254);
  const { tile } = world.log;
  const log = Object.assign(world.log, {
    tile: (url: URL, asked: Tile) => (asked.width < 256 ? Effect.succeed(null) : tile(url, asked)),
  });
  return world.run(function* (witness) {
    const body = log.offer(0, 100);
    expect(yield* say(witness, body)).toBe("node_ahead");
    world.grow(1);
    world.follow();
    log.servedSize = 256;
    expect(yield* say(witness, body)).toBe("cosigned");
  });
});

test("a log that does not answer makes its checkpoint wait while the node is ahead", () => {
  const world = WitnessWorld.after(600);
  return world.run(function* (witness) {
    const body = world.log.offer(0, 400);
    world.log.isDown = true;
    expect(yield* say(witness, body)).toBe("log_unavailable");
    world.log.isDown = false;
    world.log.servedSize = 500;
    expect(yield* say(witness, body)).toBe("node_ahead");
    world.log.servedSize = 601;
    expect(yield* say(witness, body)).toBe("cosigned");
  });
});

test("one checkpoint of a log is judged at a time", () => {
  const world = WitnessWorld.after(600);
  const { tile } = world.log;
  Object.assign(world.log, {
    tile: (url: URL, asked: Tile) => Effect.delay(tile(url, asked), "5 seconds"),
  });
  return world.run(function* (witness) {
    const body = world.log.offer(0, 400);
    world.log.servedSize = 601;
    const first = yield* Effect.forkChild(say(witness, body));
    yield* TestClock.adjust("1 seconds");
    expect(yield* say(witness, body)).toBe("another_request");
    yield* TestClock.adjust("9 seconds");
    expect(yield* Fiber.join(first)).toBe("cosigned");
  });
});

test("a checkpoint is cosigned once whoever holds the witness's key signs again", () => {
  const world = WitnessWorld.after(10);
  world.keyAnswers = false;
  return world.run(function* (witness) {
    expect(yield* say(witness, world.log.offer(0, 11))).toBe("key_unavailable");
    // It is noted already as cosigned: the log offers it again from that size.
    expect(yield* say(witness, world.log.offer(11, 11))).toBe("key_unavailable");
    world.keyAnswers = true;
    expect(yield* say(witness, world.log.offer(11, 11))).toBe("cosigned");
  });
});
