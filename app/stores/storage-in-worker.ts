import { Deferred, Effect, Layer, Queue } from "effect";
import { indexNewsMemory } from "../../adapters/memory/index-news.ts";
import { indexReaderSqlite, logStoreSqlite } from "../../adapters/sqlite/index-store.ts";
import { settledPacketsSqlite } from "../../adapters/sqlite/packets/settled-packets.ts";
import { outcomeLogSqlite } from "../../adapters/sqlite/relay/outcome-log.ts";
import { webhookRecordsSqlite } from "../../adapters/sqlite/webhook-records.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import {
  clusterOf,
  deploymentOf,
  packetsPath,
  webhooksPath,
} from "../lifecycle/started-instance.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { startSyncWorker } from "../sync-worker/start-sync-worker.ts";
import type { SyncThread } from "../sync-worker/sync-thread.ts";
import { recordedBySqlite, relaySqlite, sqliteBroken, sqliteIndex } from "./sqlite-stores.ts";
import { type Storage, type StorageParts, tellOf } from "./storage.ts";
import { servedStores } from "./stores-of-ledger.ts";

/**
 * Files that this thread reads and the worker of `thread` writes, beside the relay's log and the packets that were
 * served.
 */
export const storageInWorker = (parts: StorageParts, thread: SyncThread): Storage =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { started, refused } = parts;
      const hindrances = yield* Queue.sliding<StoreUnavailable>(1);
      const { sync, opened } = yield* startSyncWorker(started, thread, {
        refuse: (failure) => {
          Deferred.doneUnsafe(refused, Effect.fail(failure));
        },
        hindered: (hindrance) => {
          Queue.offerUnsafe(hindrances, hindrance);
        },
        grown: tellOf(parts),
      });
      /** The worker makes the index before anybody reads it. */
      const open = (genesisHash: string) => {
        const index = sqliteIndex(started, genesisHash);
        const read = Layer.merge(indexReaderSqlite(index), logStoreSqlite(index));
        return Layer.unwrap(
          Effect.as(opened, Layer.merge(read, outcomeLogSqlite(relaySqlite(started, genesisHash)))),
        );
      };
      const stores = servedStores({
        cluster: clusterOf(started.settings),
        deployment: deploymentOf(started.settings),
        open,
        recorded: recordedBySqlite(started),
        refused,
        broken: sqliteBroken(started),
        elsewhere: hindrances,
      });
      return Layer.mergeAll(
        stores,
        settledPacketsSqlite(packetsPath(started.dataDir)),
        webhookRecordsSqlite(webhooksPath(started.dataDir)),
        Layer.succeed(IndexSync, sync),
        indexNewsMemory,
      );
    }),
  );
