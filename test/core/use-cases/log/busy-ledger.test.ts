import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { noNews } from "../../../doubles/no-signals.ts";
import { TestClock } from "effect/testing";
import { witnessStateMemory } from "../../../../adapters/memory/witness-state.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { networkIdOf, networkLeaf } from "../../../../core/log/leaf/event-leaf.ts";
import { verifierKey } from "../../../../core/log/notes/verifier-key.ts";
import { type Tile, tileWidthIn } from "../../../../core/log/tiles/tile-path.ts";
import { TLOG_SIZE_TYPE } from "../../../../core/log/witness/add-checkpoint.ts";
import { makeWitness } from "../../../../core/use-cases/witness/witness.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { LogSource } from "../../../../ports/log/log-source.ts";
import { WitnessKey } from "../../../../ports/log/witness-state.ts";
import { TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { ledgerPort } from "../../../world/ledger-port.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { referenceSource, someLeaves } from "../../log/support/reference-tree.ts";
import { testInstance } from "../test-instance.ts";
import { type PublishingWorld, worldOf } from "./publishing-world.ts";

const { deployment } = testInstance();
const WITNESS_KEY = ed25519Key(new Uint8Array(32).fill(77));

/** Gives a world one witness that compares the log with a node which is always at the newest event. */
const withWitness = async (world: PublishingWorld) => {
  const origin = `log.example/log/${networkIdOf(networkLeaf(TEST_GENESIS_HASH, deployment.custodyProgram))}/0`;
  const logKey = verifierKey(origin, "ed25519", ed25519Key(new Uint8Array(32).fill(1)).publicKey);
  const readAccounts = () =>
    Effect.sync(() => {
      return { slot: 1n, value: [custodyConfigAccount(deployment, world.mark())] };
    });
  // What the log serves: the tiles of what it has signed.
  const tile = (_url: URL, { level, index, width }: Tile) =>
    Effect.gen(function* () {
      const size = (yield* Effect.orDie(world.standing))?.signed.size ?? 0;
      if (level === "entries" || width > tileWidthIn({ level, index }, size)) return null;
      const source = referenceSource(world.treeLeaves(size));
      const hashes = Array.from({ length: width }, (_, at) =>
        source({ level: 8 * level, index: index * 256 + at }),
      );
      return Uint8Array.from(Buffer.concat(hashes));
    });
  const { publicKey, sign } = WITNESS_KEY;
  const services = Layer.mergeAll(
    Layer.succeed(Ledger, { ...ledgerPort({ genesisHash: TEST_GENESIS_HASH }), readAccounts }),
    Layer.succeed(LogSource, { tile }),
    noNews,
    witnessStateMemory,
    Layer.succeed(WitnessKey, {
      name: "w.example",
      publicKey,
      sign: (message) => Effect.succeed(sign(message)),
    }),
  );
  // Nobody follows the node between the offers: what the witness knows of it, it reads at one.
  const witness = await Effect.runPromise(
    makeWitness({ logs: [{ key: logKey, url: new URL("http://log") }], deployment }).pipe(
      Effect.scoped,
      Effect.provide(services),
    ),
  );
  const { addCheckpoint } = witness;
  if (addCheckpoint === null) throw new Error("it is a witness");
  world.witness = (_url, body) =>
    Effect.gen(function* () {
      yield* Effect.sleep("400 millis");
      const answer = yield* Effect.result(addCheckpoint(body));
      if (answer._tag === "Failure") return { status: 503, contentType: "", body: "" };
      return answer.success.kind === "cosigned"
        ? { status: 200, contentType: "text/plain", body: answer.success.lines }
        : { status: 409, contentType: TLOG_SIZE_TYPE, body: `${answer.success.size}\n` };
    });
  const key = verifierKey("w.example", "cosignature", publicKey);
  const line = { name: "w", key, url: "http://w" };
  world.policy = { logs: [], witnesses: [line], groups: [], quorum: "w" };
};

test.each([2, 6])("a ledger of %d events a second is cosigned while it grows", async (rate) => {
  const world = worldOf(0);
  const all = someLeaves(rate * 200, 3);
  await withWitness(world);
  const behind: Array<number> = [];
  await world.run(function* ({ grown }) {
    // A cosignature states a time after the epoch.
    yield* TestClock.adjust("1 day");
    for (let second = 1; second <= 150; second++) {
      // The node is ahead of the index, half of a second's events each time.
      world.leaves = all.slice(0, second * rate - rate / 2);
      yield* grown(world.mark());
      yield* TestClock.adjust("300 millis");
      world.leaves = all.slice(0, second * rate);
      yield* TestClock.adjust("700 millis");
      if (second % 30 === 0) behind.push(world.leaves.length + 1 - (yield* world.publishedSize));
    }
  });
  // Published within the last ten seconds of events.
  expect(behind.filter((events) => events > rate * 10)).toEqual([]);
});
