import { Deferred, Effect, Layer, Queue, type Redacted } from "effect";
import { IndexSync } from "../../core/use-cases/index/sync/index-sync.ts";
import { makeReplicatedIndexSync } from "../../core/use-cases/index/sync/replicated-index-sync.ts";
import { indexNewsMemory } from "../../adapters/memory/index-news.ts";
import { indexNewsPostgres } from "../../adapters/postgres/index-news.ts";
import { indexPostgres } from "../../adapters/postgres/index-store.ts";
import { recordedGenesis } from "../../adapters/postgres/ledger-identity.ts";
import { outcomeLogPostgres } from "../../adapters/postgres/outcome-log.ts";
import { postgresStore } from "../../adapters/postgres/postgres-store.ts";
import { syncLeasePostgres } from "../../adapters/postgres/sync-lease.ts";
import {
  indexReaderSqlite,
  indexSqlite,
  logStoreSqlite,
} from "../../adapters/sqlite/index-store.ts";
import { settledPacketsPostgres } from "../../adapters/postgres/packets/settled-packets.ts";
import { settledPacketsSqlite } from "../../adapters/sqlite/packets/settled-packets.ts";
import { outcomeLogSqlite } from "../../adapters/sqlite/relay/outcome-log.ts";
import type { IndexReader } from "../../ports/index/index-reader.ts";
import type { Instance } from "../../ports/instance.ts";
import type { Ledger } from "../../ports/ledger.ts";
import type { LedgerNodes } from "../../ports/ledger-nodes.ts";
import type { LogIdentity } from "../../ports/log/log-identity.ts";
import type { LogStore } from "../../ports/log/log-store.ts";
import type { OutcomeLog } from "../../ports/outcome-log.ts";
import type { GrownMark } from "../syncing/grown-mark.ts";
import type { IndexRefused } from "./index-refused.ts";
import {
  ledgerIdentity,
  recordedBySqlite,
  relaySqlite,
  sqliteBroken,
  sqliteIndex,
} from "./sqlite-stores.ts";
import {
  clusterOf,
  deploymentOf,
  packetsPath,
  type StartedInstance,
} from "../lifecycle/started-instance.ts";
import { servedStores, storesOfLedger } from "./stores-of-ledger.ts";
import { type Environment, startSyncWorker } from "../sync-worker/start-sync-worker.ts";
import { syncingSide } from "../syncing/syncing-side.ts";

/** The stores and the syncs on them. */
type Storage = Layer.Layer<
  IndexReader | LogStore | LogIdentity | OutcomeLog | IndexSync,
  never,
  Ledger | LedgerNodes | Instance
>;
type Refused = Deferred.Deferred<never, IndexRefused>;
type Marks = Queue.Queue<GrownMark>;

const tellOf = (marks: Marks) => (grown: GrownMark) => {
  Queue.offerUnsafe(marks, grown);
};

/** The file of the packets that were served, which this thread writes. */
const packetsSqlite = ({ dataDir }: StartedInstance) => settledPacketsSqlite(packetsPath(dataDir));

/** Files that this thread reads and a worker thread writes, beside the relay's log. */
const inWorker = (
  started: StartedInstance,
  refused: Refused,
  environment: Environment,
  marks: Marks,
): Storage =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { sync, opened } = yield* startSyncWorker(
        started,
        environment,
        (failure) => {
          Deferred.doneUnsafe(refused, Effect.fail(failure));
        },
        tellOf(marks),
      );
      /** The worker makes the index, and brings an older one forward, before anybody reads it. */
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
      });
      return Layer.mergeAll(
        stores,
        packetsSqlite(started),
        Layer.succeed(IndexSync, sync),
        indexNewsMemory,
      );
    }),
  );

/** Files that this thread reads and writes. */
const inThisThread = (started: StartedInstance, refused: Refused, marks: Marks): Storage => {
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
  const syncs = Layer.provideMerge(syncingSide(started, tellOf(marks)), stores);
  return Layer.mergeAll(syncs, packetsSqlite(started), indexNewsMemory);
};

/** A database that replicas share. What it writes is sent to it, so that the server does most of the work. */
const inDatabase = (
  started: StartedInstance,
  refused: Refused,
  databaseUrl: Redacted.Redacted<URL>,
  marks: Marks,
): Storage => {
  const database = postgresStore(databaseUrl);
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
  const replicated = Layer.effect(
    IndexSync,
    Effect.flatMap(IndexSync, makeReplicatedIndexSync),
  ).pipe(
    Layer.provide(syncingSide(started, tellOf(marks))),
    Layer.provide(syncLeasePostgres().pipe(Layer.provide(database))),
  );
  const packets = Layer.provide(settledPacketsPostgres(), database);
  const news = Layer.provide(indexNewsPostgres, database);
  return Layer.mergeAll(Layer.provideMerge(replicated, stores), packets, news);
};

/** Whether this thread syncs, so that it has to run `runSyncingSide`. */
export const syncsHere = (
  { settings }: StartedInstance,
  environment: Environment | null,
): boolean => environment === null || settings.databaseUrl !== null;

/**
 * The stores and the syncs that settings ask for. With `environment`, SQLite stores are written by a worker thread that
 * has it; without, by this thread. `marks` gets how far the index is complete after each sync.
 */
export const storage = (
  started: StartedInstance,
  refused: Refused,
  environment: Environment | null,
  marks: Marks,
): Storage => {
  const { databaseUrl } = started.settings;
  if (databaseUrl !== null) return inDatabase(started, refused, databaseUrl, marks);
  return environment === null
    ? inThisThread(started, refused, marks)
    : inWorker(started, refused, environment, marks);
};
