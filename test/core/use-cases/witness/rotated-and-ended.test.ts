import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { parseSignedNote } from "../../../../core/log/notes/signed-note.ts";
import { type VerifierKey, verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { eventLeaf, ORIGIN, say, WitnessWorld } from "./support/witness-world.ts";
import { testKey } from "./support/simulated-log.ts";

const SECOND = testKey(2);
const SECOND_KEY = verifierKey(ORIGIN, "ed25519", SECOND.publicKey);

describe("a log whose keys are rotated", () => {
  const knowing = (keys: (old: VerifierKey) => ReadonlyArray<VerifierKey>) => {
    const world = WitnessWorld.after(5);
    world.knownKeys = keys(world.log.key);
    world.log.servedSize = 6;
    return world;
  };

  test.each([
    ["the old key alone", (old: VerifierKey) => [old]],
    ["the new key alone", () => [SECOND_KEY]],
    ["both", (old: VerifierKey) => [old, SECOND_KEY]],
  ])("a witness that knows %s cosigns what both sign", (_, keys) => {
    const world = knowing(keys);
    world.log.second = SECOND;
    return world.run(function* (witness) {
      expect(yield* say(witness, world.log.offer(0, 4))).toBe("cosigned");
      expect(yield* say(witness, world.log.offer(4, 6))).toBe("cosigned");
    });
  });

  test("what one key got cosigned is known under the other", () => {
    const world = knowing((old) => [old]);
    return world.run(
      Effect.gen(function* () {
        expect(yield* say(yield* world.witness, world.log.offer(0, 4))).toBe("cosigned");
        world.log.second = SECOND;
        world.knownKeys = [SECOND_KEY];
        const restarted = yield* world.witness;
        expect(yield* say(restarted, world.log.offer(0, 6))).toBe("conflict 4");
        expect(yield* say(restarted, world.log.offer(4, 6))).toBe("cosigned");
      }),
    );
  });

  test("a witness that knows neither key refuses", () => {
    const world = knowing(() => [verifierKey(ORIGIN, "ed25519", testKey(3).publicKey)]);
    world.log.second = SECOND;
    return world.run(function* (witness) {
      expect(yield* say(witness, world.log.offer(0, 6))).toBe("LogSignatureInvalid");
    });
  });

  test("a false signature of one known key spoils the other's", () => {
    const world = knowing((old) => [old, SECOND_KEY]);
    world.log.second = { ...SECOND, sign: () => new Uint8Array(64) };
    return world.run(function* (witness) {
      expect(yield* say(witness, world.log.offer(0, 6))).toBe("LogSignatureInvalid");
    });
  });

  test("a refused checkpoint is kept with the signatures of both", () => {
    const world = knowing((old) => [old, SECOND_KEY]);
    world.log.second = SECOND;
    return world.run(
      Effect.gen(function* () {
        const { addCheckpoint, refused } = yield* world.whole;
        if (addCheckpoint === null || refused === null) throw new Error("there is a witness");
        world.log.leaves[3] = eventLeaf(7);
        expect(yield* say(addCheckpoint, world.log.offer(0, 6))).toBe("CheckpointRefused");
        const note = parseSignedNote((yield* refused)[0]?.checkpoint ?? "");
        if ("fault" in note) throw new Error(note.fault);
        const ids = note.value.signatures.map(({ id }) => id);
        expect(ids).toEqual([world.log.key.id, SECOND_KEY.id]);
      }),
    );
  });
});

describe("a log that has ended", () => {
  const ended = (events = 5) => {
    const world = WitnessWorld.after(events);
    return { world, end: () => (world.log.isLast = true) };
  };

  test("its last checkpoint is cosigned, also of the size cosigned before, and nothing after it", () => {
    const { world, end } = ended();
    return world.run(
      Effect.gen(function* () {
        const { addCheckpoint: witness, refused } = yield* world.whole;
        if (witness === null || refused === null) throw new Error("there is a witness");
        expect(yield* say(witness, world.log.offer(0, 6))).toBe("cosigned");
        end();
        expect(yield* say(witness, world.log.offer(6, 6))).toBe("cosigned");
        expect(yield* say(witness, world.log.offer(6, 6))).toBe("cosigned");
        world.log.isLast = false;
        expect(yield* say(witness, world.log.offer(6, 6))).toBe("CheckpointRefused");
        expect(yield* refused).toEqual([]);
        world.grow(2);
        world.follow();
        yield* TestClock.adjust("3 seconds");
        expect(yield* say(witness, world.log.offer(6, 8))).toBe("CheckpointRefused");
        end();
        expect(yield* say(witness, world.log.offer(6, 8))).toBe("CheckpointRefused");
        expect((yield* refused).map(({ reason }) => reason)).toEqual([
          "the log ended at size 6",
          "the log ended at size 6",
        ]);
        // The next process remembers it.
        expect(yield* say(yield* world.witness, world.log.offer(6, 8))).toBe("CheckpointRefused");
      }),
    );
  });

  test("its last checkpoint is cosigned again long after the ledger went on", () => {
    const { world, end } = ended();
    return world.run(
      Effect.gen(function* () {
        const witness = yield* world.witness;
        expect(yield* say(witness, world.log.offer(0, 6))).toBe("cosigned");
        world.grow(3);
        yield* TestClock.adjust("10 minutes");
        expect(yield* say(witness, world.log.offer(6, 6))).toBe("node_ahead");
        end();
        expect(yield* say(witness, world.log.offer(6, 6))).toBe("cosigned");
        // A restarted witness has seen the larger size alone, and rests on what it cosigned.
        expect(yield* say(yield* world.witness, world.log.offer(6, 6))).toBe("cosigned");
        world.nodeEvents = () => null;
        yield* TestClock.adjust("3 seconds");
        expect(yield* say(witness, world.log.offer(6, 6))).toBe("node_unavailable");
      }),
    );
  });

  test("a size that the node has not shown is not cosigned for being the last", () => {
    const { world, end } = ended();
    return world.run(
      Effect.gen(function* () {
        const witness = yield* world.witness;
        world.log.servedSize = 6;
        expect(yield* say(witness, world.log.offer(0, 4))).toBe("cosigned");
        end();
        world.log.leaves[5] = eventLeaf(7);
        expect(yield* say(witness, world.log.offer(4, 6))).toBe("CheckpointRefused");
        world.log.leaves.push(eventLeaf(8));
        expect(yield* say(witness, world.log.offer(4, 7))).toBe("node_behind");
      }),
    );
  });
});
