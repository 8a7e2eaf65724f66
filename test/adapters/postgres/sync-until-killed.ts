import { Effect, Exit, Layer } from "effect";
import { syncLeasePostgres } from "../../../adapters/postgres/sync-lease.ts";
import { IndexSync, makeIndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { makeReplicatedIndexSync } from "../../../core/use-cases/index/sync/replicated-index-sync.ts";
import { tellBatches, tellStep } from "../../chaos/support/kills/sync-steps.ts";
import { openIndex, WORLD_LEDGER } from "../../simulation/index-of-node.ts";
import { indexAt, storeAt } from "./test-database.ts";

// Run as a process by kill-during-sync: a replica that has the store at argv[3] synced from the node at argv[2]
// once, and says how far that is, so that the test can kill it at a certain point and knows where it did.
const [url = "", path = ""] = process.argv.slice(2);
const store = new URL(path);
const index = await openIndex(
  { url, writer: tellBatches },
  indexAt(store, WORLD_LEDGER),
  Layer.effect(IndexSync, Effect.flatMap(makeIndexSync(), makeReplicatedIndexSync)).pipe(
    Layer.provide(Layer.provide(syncLeasePostgres(), storeAt(store))),
  ),
);
tellStep("open");
const exit = await index.sync();
tellStep("end");
await index.close();
process.exit(Exit.isSuccess(exit) ? 0 : 1);
