import { Effect, Layer, Redacted } from "effect";
import { indexNewsPostgres } from "../../adapters/postgres/index-news.ts";
import { indexPostgres } from "../../adapters/postgres/index-store.ts";
import { recordedGenesis } from "../../adapters/postgres/ledger-identity.ts";
import { outcomeLogPostgres } from "../../adapters/postgres/outcome-log.ts";
import { settledPacketsPostgres } from "../../adapters/postgres/packets/settled-packets.ts";
import { postgresStore } from "../../adapters/postgres/postgres-store.ts";
import { standbyReader, standbyStore } from "../../adapters/postgres/standby-reader.ts";
import { syncLeasePostgres } from "../../adapters/postgres/sync-lease.ts";
import { webhookRecordsPostgres } from "../../adapters/postgres/webhook-records.ts";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { makeReplicatedIndexSync } from "../../core/use-cases/index/sync/replicated-index-sync.ts";
import type { DatabaseSettings } from "../config/settings.ts";
import { clusterOf, deploymentOf } from "../lifecycle/started-instance.ts";
import { syncingSide } from "../syncing/syncing-side.ts";
import { ledgerIdentity } from "./sqlite-stores.ts";
import { type Storage, type StorageParts, tellOf } from "./storage.ts";
import { storesOfLedger } from "./stores-of-ledger.ts";

/** A standby holds the schema of its primary. */
const standbyAddresses = (url: Redacted.Redacted<URL>, readUrl: Redacted.Redacted<URL>) => {
  const address = new URL(Redacted.value(readUrl));
  const schema = Redacted.value(url).searchParams.get("schema");
  if (schema !== null) address.searchParams.set("schema", schema);
  return { url: Redacted.make(address), directUrl: null };
};

/** A database that replicas share. What it writes is sent to it, so that the server does most of the work. */
export const storageInDatabase = (parts: StorageParts, addresses: DatabaseSettings): Storage => {
  const { started, refused } = parts;
  const database = postgresStore(addresses);
  const open = (genesisHash: string) => {
    const identity = ledgerIdentity(started, genesisHash);
    return Layer.merge(indexPostgres(identity), outcomeLogPostgres(identity));
  };
  const stores = storesOfLedger({
    cluster: clusterOf(started.settings),
    deployment: deploymentOf(started.settings),
    open,
    recorded: recordedGenesis,
    refused,
  }).pipe(Layer.provide(database));
  const tell = tellOf(parts);
  const standsBy = (isBeside: boolean) => Effect.sync(() => tell({ isBeside }));
  const replicated = Layer.effect(
    IndexSync,
    Effect.flatMap(IndexSync, (local) => makeReplicatedIndexSync(local, standsBy)),
  ).pipe(
    Layer.provide(syncingSide(started, tell)),
    Layer.provide(syncLeasePostgres().pipe(Layer.provide(database))),
  );
  const served = Layer.provideMerge(replicated, stores);
  const { readUrl } = addresses;
  // The syncs go on reading what they have written.
  const shown =
    readUrl === null
      ? served
      : Layer.provideMerge(
          standbyReader,
          Layer.mergeAll(served, database, standbyStore(standbyAddresses(addresses.url, readUrl))),
        );
  const packets = Layer.provide(settledPacketsPostgres(), database);
  const news = Layer.provide(indexNewsPostgres, database);
  const webhooks = Layer.provide(webhookRecordsPostgres, database);
  return Layer.mergeAll(shown, packets, news, webhooks);
};
