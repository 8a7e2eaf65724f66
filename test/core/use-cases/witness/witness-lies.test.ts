import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { address } from "../../../../core/domain/address.ts";
import { LeafTree } from "../../../../core/log/leaf/leaf-tree.ts";
import { noEvents } from "../../../../core/log/tree/frontier.ts";
import { printAddCheckpoint } from "../../../../core/log/witness/add-checkpoint.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { MAX_REFUSED, WitnessState } from "../../../../ports/log/witness-state.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { NETWORK } from "../../../arbitraries/evidence.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { SimulatedLog } from "./support/simulated-log.ts";
import { eventLeaf, LEAF_ZERO, ORIGIN, say, WitnessWorld } from "./support/witness-world.ts";

const keptReasons = WitnessState.use((state) => state.refused(ORIGIN)).pipe(
  Effect.map((refused) => refused.map(({ reason }) => reason)),
);
const keptSize = WitnessState.use((state) => state.read(ORIGIN)).pipe(
  Effect.map((cosigned) => cosigned?.size ?? 0),
);

/** A world whose log has 300 events, of which the witness has cosigned the first 100. */
const cosignedTo100 = Effect.fnUntraced(function* (world: WitnessWorld) {
  world.grow(100);
  world.follow();
  const witness = yield* world.witness;
  expect(yield* say(witness, world.log.offer(0, 101))).toBe("cosigned");
  world.grow(200);
  world.follow();
  return witness;
});

/** What a log does to its own leaves beyond the cosigned ones, and signs. */
const LIES: Readonly<Record<string, (leaves: Array<Uint8Array>) => void>> = {
  "drops a leaf": (leaves) => void leaves.splice(150, 1),
  "adds a leaf": (leaves) => void leaves.splice(150, 0, eventLeaf(9999)),
  "swaps two leaves": (leaves) => {
    const [a, b] = leaves.splice(150, 2);
    if (a !== undefined && b !== undefined) leaves.splice(150, 0, b, a);
  },
  "forges a leaf": (leaves) => void (leaves[150] = eventLeaf(9999)),
  "forges the last leaf": (leaves) => void (leaves[leaves.length - 1] = eventLeaf(9999)),
};

const loggedAfter = (events: ReadonlyArray<Uint8Array>) => {
  const tree = new LeafTree(noEvents(LEAF_ZERO));
  for (const [at, leaf] of events.entries()) tree.add(BigInt(at + 1), leaf);
  return tree.events;
};

for (const [name, lie] of Object.entries(LIES))
  test(`a log that ${name} is refused, and its checkpoint is kept`, () => {
    const world = new WitnessWorld();
    return world.run(function* () {
      const witness = yield* cosignedTo100(world);
      lie(world.log.leaves);
      // With an added leaf, the node's count is one behind the log's size, as if it only had to catch up.
      const size = Math.min(world.log.leaves.length, 301);
      world.log.servedSize = world.log.leaves.length;
      if (size <= 300) world.events.pop();
      expect(yield* say(witness, world.log.offer(101, size))).toBe("CheckpointRefused");
      expect(yield* keptSize).toBe(101);
      expect(yield* keptReasons).toEqual(["the ledger has another root at this size"]);
      // Beside it stands the ledger's root at that size, as the node showed it.
      const [kept] = yield* WitnessState.use((state) => state.refused(ORIGIN));
      expect(kept?.config?.owner).toBe(LOCAL_DEPLOYMENT.custodyProgram);
      const shown = custodyConfigAccount(
        LOCAL_DEPLOYMENT,
        loggedAfter(world.events.slice(0, size - 1)),
        address(NETWORK.genesisHash),
      );
      expect(kept?.config?.data).toEqual(shown.data);
      // The honest checkpoint is cosigned afterwards.
      world.follow();
      expect(yield* say(witness, world.log.offer(101, world.events.length + 1))).toBe("cosigned");
    });
  });

test("a log that lies beyond an honest checkpoint is not cosigned there, because nothing shows its events", () => {
  const world = new WitnessWorld();
  return world.run(function* () {
    const witness = yield* cosignedTo100(world);
    world.log.leaves[250] = eventLeaf(9999);
    world.log.servedSize = 301;
    expect(yield* say(witness, world.log.offer(101, 200))).toBe("CheckpointRefused");
    expect(yield* keptSize).toBe(101);
  });
});

test("a log that signed another tree than it serves is refused, also where it serves the ledger's", () => {
  const world = new WitnessWorld();
  return world.run(function* () {
    const witness = yield* cosignedTo100(world);
    const honest = world.log.leaves;
    world.log.leaves = [...honest.slice(0, 150), eventLeaf(9999), ...honest.slice(151)];
    const body = world.log.offer(101, 301);
    world.log.leaves = honest;
    expect(yield* say(witness, body)).toBe("CheckpointRefused");
    expect(yield* keptReasons).toEqual(["the ledger has another root at this size"]);
    // It was an answer to a false checkpoint: the true one is cosigned.
    expect(yield* say(witness, world.log.offer(101, 301))).toBe("cosigned");
  });
});

test("tiles of another length, and tiles that do not lead to the ledger's root, are refused", () => {
  const world = WitnessWorld.after(3);
  return world.run(function* (witness) {
    world.log.servedSize = 4;
    world.log.forged.set("tile/0/000.p/4", new Uint8Array(31));
    expect(yield* say(witness, world.log.offer(0, 3))).toBe("CheckpointRefused");
    world.log.forged.set("tile/0/000.p/4", new Uint8Array(128));
    expect(yield* say(witness, world.log.offer(0, 2))).toBe("CheckpointRefused");
    expect(yield* keptReasons).toEqual([
      "the log's tiles are false: tile/0/000.p/4 has 31 bytes",
      "the log's tiles do not lead to the ledger's root at size 4",
    ]);
    world.log.forged.clear();
    expect(yield* say(witness, world.log.offer(0, 3))).toBe("cosigned");
  });
});

test("two checkpoints of one size: the second is a conflict and is kept", () => {
  const world = new WitnessWorld();
  return world.run(function* () {
    const witness = yield* cosignedTo100(world);
    world.log.leaves[50] = eventLeaf(9999);
    expect(yield* say(witness, world.log.offer(101, 101))).toBe("conflict 101");
    expect(yield* keptReasons).toEqual(["another root was cosigned at this size"]);
    expect(yield* keptSize).toBe(101);
  });
});

test("a fork below what was cosigned has no consistency proof", () => {
  const world = new WitnessWorld();
  return world.run(function* () {
    const witness = yield* cosignedTo100(world);
    world.log.leaves[50] = eventLeaf(9999);
    expect(yield* say(witness, world.log.offer(101, 301))).toBe("CheckpointRefused");
    // Anybody can send a wrong proof with an honest checkpoint, so nothing is kept.
    expect(yield* keptReasons).toEqual([]);
  });
});

test("a wrong, a missing and a superfluous proof are refused, and the empty tree too", () => {
  const world = new WitnessWorld();
  return world.run(function* (witness) {
    expect(yield* say(witness, world.log.offer(0, 0))).toBe("CheckpointRefused");
    const grown = yield* cosignedTo100(world);
    const checkpoint = world.log.note(301, world.log.root(301));
    world.log.servedSize = 301;
    for (const proof of [[], [new Uint8Array(32)]])
      expect(yield* say(grown, printAddCheckpoint({ oldSize: 101, proof, checkpoint }))).toBe(
        "CheckpointRefused",
      );
    const same = world.log.note(101, world.log.root(101));
    expect(
      yield* say(
        grown,
        printAddCheckpoint({ oldSize: 101, proof: [new Uint8Array(32)], checkpoint: same }),
      ),
    ).toBe("CheckpointRefused");
    expect(yield* keptReasons).toEqual([]);
  });
});

test("unknown origins are not found, and other keys' signatures are forbidden", () => {
  const world = WitnessWorld.after(1);
  return world.run(function* (witness) {
    const stranger = new SimulatedLog(`${ORIGIN}1`, [LEAF_ZERO]);
    expect(yield* say(witness, stranger.offer(0, 1))).toBe("LogUnknown");
    const impostor = new SimulatedLog(ORIGIN, [LEAF_ZERO], 2);
    expect(yield* say(witness, impostor.offer(0, 1))).toBe("LogSignatureInvalid");
    expect(yield* say(witness, world.log.offer(0, 2).replace("\n2\n", "\n1\n"))).toBe(
      "LogSignatureInvalid",
    );
  });
});

test("a log of another network than the witness's node is not found", () => {
  const world = new WitnessWorld("log.example/log/0123456789abcdef/0");
  world.grow(1);
  world.follow();
  return world.run(function* () {
    expect(yield* say(yield* world.witness, world.log.offer(0, 2))).toBe("LogUnknown");
  });
});

describe("a node that forked", () => {
  test("shows other events: the checkpoint is refused, and cosigned once the node is right", () => {
    const world = new WitnessWorld();
    return world.run(function* () {
      const witness = yield* cosignedTo100(world);
      world.nodeEvents = () => world.events.map((leaf, i) => (i === 180 ? eventLeaf(7) : leaf));
      expect(yield* say(witness, world.log.offer(101, 301))).toBe("CheckpointRefused");
      world.nodeEvents = () => world.events;
      expect(yield* say(witness, world.log.offer(101, 301))).toBe("cosigned");
    });
  });

  test("contradicts what it showed before, or what was cosigned: nothing is cosigned on its word", () => {
    const world = new WitnessWorld();
    return world.run(function* () {
      const witness = yield* cosignedTo100(world);
      const forked = () => world.events.slice(0, 100).map(() => eventLeaf(7));
      world.nodeEvents = forked;
      expect(yield* say(witness, world.log.offer(101, 301))).toBe("node_contradicts_itself");
      // After a restart only what was cosigned is known.
      const restarted = yield* world.witness;
      expect(yield* say(restarted, world.log.offer(101, 301))).toBe("node_contradicts_itself");
      // The node is right again, and one event ahead of the log, which does not answer.
      world.grow(1);
      world.nodeEvents = () => world.events;
      world.log.isDown = true;
      expect(yield* say(witness, world.log.offer(101, 301))).toBe("log_unavailable");
      world.nodeEvents = () => world.events.map(() => eventLeaf(7));
      expect(yield* say(witness, world.log.offer(101, 301))).toBe("node_contradicts_itself");
      expect(yield* keptSize).toBe(101);
    });
  });
});

test("what a node told falsely of events to come costs an honest log one offer, however often it told", () => {
  const world = new WitnessWorld();
  return world.run(function* () {
    const witness = yield* cosignedTo100(world);
    for (let more = 1; more <= 40; more++) {
      world.nodeEvents = () => [
        ...world.events,
        ...Array.from({ length: more }, () => eventLeaf(7)),
      ];
      yield* TestClock.adjust("2 seconds");
    }
    const body = world.log.offer(101, 301);
    world.grow(60);
    world.follow();
    world.log.servedSize = 361;
    world.nodeEvents = () => world.events;
    expect(yield* say(witness, body)).toBe("CheckpointRefused");
    expect(yield* say(witness, body)).toBe("cosigned");
  });
});

test("refused checkpoints are kept once each, and not without end", () => {
  const world = new WitnessWorld();
  return world.run(function* () {
    const witness = yield* cosignedTo100(world);
    for (let n = 0; n < MAX_REFUSED + 5; n++) {
      world.log.leaves[50] = eventLeaf(10_000 + n);
      for (let twice = 0; twice < 2; twice++) yield* say(witness, world.log.offer(101, 101));
    }
    expect(yield* keptReasons).toHaveLength(MAX_REFUSED);
  });
});

test("10,000 bodies of any form are answered, and none is cosigned", async () => {
  const world = WitnessWorld.after(3);
  const good = world.log.offer(0, 4);
  const mangled = fc
    .tuple(fc.nat(good.length), fc.nat(6), fc.string({ maxLength: 6, unit: anyCharacter }))
    .map(([at, cut, text]) => good.slice(0, at) + text + good.slice(at + cut))
    .filter((body) => body !== good);
  const bodies = fc.oneof(
    mangled,
    fc.string({ unit: anyCharacter }),
    fc
      .array(fc.constantFrom("old 0", "", ORIGIN, "4", "\n", "— a b", "AAAA"))
      .map((l) => l.join("\n")),
  );
  await world.run(
    Effect.gen(function* () {
      const witness = yield* world.witness;
      const run = Effect.runPromiseWith(yield* Effect.context());
      const allowed = [
        "CheckpointMalformed",
        "LogUnknown",
        "LogSignatureInvalid",
        "CheckpointRefused",
      ];
      yield* Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(bodies, async (body) => {
            const said = await run(say(witness, body));
            // A changed proof line or old size leaves the signature good.
            if (said !== "conflict 0") expect(allowed).toContain(said);
          }),
          runs(10_000),
        ),
      );
      expect(yield* keptSize).toBe(0);
    }),
  );
});
