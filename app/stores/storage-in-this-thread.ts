import { Layer } from "effect";
import { indexNewsMemory } from "../../adapters/memory/index-news.ts";
import { indexSqlite } from "../../adapters/sqlite/index-store.ts";
import { settledPacketsSqlite } from "../../adapters/sqlite/packets/settled-packets.ts";
import { outcomeLogSqlite } from "../../adapters/sqlite/relay/outcome-log.ts";
import { webhookRecordsSqlite } from "../../adapters/sqlite/webhook-records.ts";
import {
  clusterOf,
  deploymentOf,
  packetsPath,
  webhooksPath,
} from "../lifecycle/started-instance.ts";
import { syncingSide } from "../syncing/syncing-side.ts";
import { recordedBySqlite, relaySqlite, sqliteBroken, sqliteIndex } from "./sqlite-stores.ts";
import { type Storage, type StorageParts, tellOf } from "./storage.ts";
import { storesOfLedger } from "./stores-of-ledger.ts";

/** Files that this thread reads and writes. */
export const storageInThisThread = (parts: StorageParts): Storage => {
  const { started, refused } = parts;
  const stores = storesOfLedger({
    cluster: clusterOf(started.settings),
    deployment: deploymentOf(started.settings),
    open: (genesisHash) =>
      Layer.merge(
        indexSqlite(sqliteIndex(started, genesisHash)),
        outcomeLogSqlite(relaySqlite(started, genesisHash)),
      ),
    recorded: recordedBySqlite(started),
    refused,
    broken: sqliteBroken(started),
  });
  const syncs = Layer.provideMerge(syncingSide(started, tellOf(parts)), stores);
  return Layer.mergeAll(
    syncs,
    settledPacketsSqlite(packetsPath(started.dataDir)),
    webhookRecordsSqlite(webhooksPath(started.dataDir)),
    indexNewsMemory,
  );
};
