import { join } from "node:path";
import { expect, test } from "bun:test";
import { Effect, Exit, Fiber, Layer } from "effect";
import {
  ArchivedEscrows,
  makeArchivedEscrows,
} from "../../../../core/use-cases/escrow/archived-escrows.ts";
import { readEscrow } from "../../../../core/use-cases/escrow/read-escrow.ts";
import { IndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { indexSqlite } from "../../../../adapters/sqlite/index-store.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Instance } from "../../../../ports/instance.ts";
import { LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { testInstance } from "../../../core/use-cases/test-instance.ts";
import { noArchive, nothingKept } from "../../../doubles/nothing-kept.ts";
import { ONE_NODE } from "../../../doubles/one-node.ts";
import { INDEX_SYNC, WORLD_LEDGER } from "../../../simulation/index-of-node.ts";
import { pendingOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { ChainNode } from "../../../world/chain-node.ts";
import { worldOf } from "../../../simulation/world.ts";
import { inOwnFolder } from "../../sqlite/store-folder.ts";
import { limitedNode } from "./simulated/limited-node.ts";
import { type Answer, runSimulated, type TimedCall } from "./simulated/virtual-run.ts";
import { JsonText } from "../../../world/rpc-answer.ts";

const BEFORE = 50;
const BURST = 200;
const READS = 100;
/** A service's default interval between two syncs. */
const BETWEEN_SYNCS = "2 seconds";
/** Syncs after which the burst is given up. */
const MOST_SYNCS = 10;

/** The answer of a world's node. Its numbers are safe to print, but for a rent epoch that nothing reads. */
const answerOf =
  (node: ChainNode) =>
  (call: TimedCall): Answer => {
    const answer = node.answer(call);
    if ("error" in answer || !(answer.result instanceof JsonText)) return answer;
    return { result: JSON.parse(answer.result.text) as unknown };
  };

const services = inOwnFolder((folder) =>
  INDEX_SYNC.pipe(
    Layer.provideMerge(Layer.effect(ArchivedEscrows, makeArchivedEscrows)),
    Layer.provideMerge(
      Layer.mergeAll(
        indexSqlite({
          ...WORLD_LEDGER,
          path: join(folder, "index.sqlite"),
          logFolder: join(folder, "log"),
        }),
        Layer.succeed(Instance, { ...testInstance(), deployment: WORLD_LEDGER.deployment }),
        Layer.succeed(LedgerNodes, ONE_NODE),
        nothingKept,
        noArchive,
      ),
    ),
  ),
);

test("a burst of 200 escrows is synced at a public node's limits by the first sync that sees it, and none of 100 escrow reads fails meanwhile", async () => {
  const world = worldOf(BEFORE);
  const honest = new ChainNode(world);
  const node = limitedNode(answerOf(honest));
  const seen = await runSimulated(
    node.answer,
    Effect.gen(function* () {
      const sync = yield* IndexSync;
      const count = IndexReader.use(({ summary }) =>
        Effect.map(summary, ({ mark }) => mark?.count),
      );
      yield* sync.request;
      yield* Effect.sleep("10 seconds");
      for (let number = BEFORE; number < BEFORE + BURST; number++) {
        if (number % 10 === 0) world.slot += 1n;
        world.putEscrow(pendingOf(worldEscrow(number)));
      }
      const asked = { ...honest.asked };
      const syncing = yield* Effect.forkChild(
        Effect.gen(function* () {
          const exits: Array<Exit.Exit<unknown, unknown>> = [];
          while (exits.length < MOST_SYNCS && (yield* count) !== world.custodyLog.count) {
            exits.push(yield* Effect.exit(sync.request));
            yield* Effect.sleep(BETWEEN_SYNCS);
          }
          return exits.map(Exit.isSuccess);
        }),
        { startImmediately: true },
      );
      let failedReads = 0;
      for (let read = 0; read < READS; read++) {
        const { address } = worldEscrow((BEFORE + read) % (BEFORE + BURST));
        const exit = yield* Effect.exit(readEscrow(address));
        if (Exit.isFailure(exit)) failedReads += 1;
        yield* Effect.sleep("700 millis");
      }
      const syncs = yield* Fiber.join(syncing);
      const shown = yield* IndexReader.use((index) => index.events({}, 1000, { after: 0n }));
      return {
        syncs,
        failedReads,
        shown: shown.length,
        transactions: shown.slice(-BURST).filter(({ signature }) => signature !== null).length,
        askedFor: (honest.asked["getTransaction"] ?? 0) - (asked["getTransaction"] ?? 0),
      };
    }).pipe(Effect.provide(services)),
  );
  expect(seen).toMatchObject({
    syncs: [true],
    failedReads: 0,
    shown: Number(world.custodyLog.count),
    transactions: BURST,
  });
  // Each transaction of the burst is read once. The rest are those of the 32 older events that a sync looks for.
  expect(seen.askedFor).toBeLessThanOrEqual(BURST + 64);
  // The refusals of one moment, eight requests at once, teach the limit. The sync then keeps below it until Retry-After
  // is over.
  expect(node.refused).toEqual({ getTransaction: expect.any(Number) as number });
  expect(node.refused["getTransaction"]).toBeLessThanOrEqual(8);
}, 120_000);
