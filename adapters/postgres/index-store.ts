import { Context, Effect, Layer } from "effect";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter, type IndexChanges } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { SyncEpoch } from "../../ports/index/sync-lease.ts";
import { buildIndex } from "./index/build/build-index.ts";
import { escrowPage, escrowsAt, escrowsOfHash } from "./index/escrow-pages.ts";
import { eventPage } from "./index/event-pages.ts";
import { summaryIn, addCounts, lockLedger, putMark, putSnapshotTime } from "./index/ledger-row.ts";
import { keepTiles, leavesFrom, replaceStanding, standingIn, tileAt } from "./index/log-tables.ts";
import { merchantsAt, registryPage, sameNames, putMerchants } from "./index/merchant-table.ts";
import { unseenAfter, putEscrows, putTransactions, putUnseen } from "./index/put-escrows.ts";
import { holdTerm, isTerm } from "./index/write-term.ts";
import type { LedgerIdentity } from "../sql/ledger-identity.ts";
import { openClaimed } from "./ledger-identity.ts";
import { type PostgresStore, storeCall } from "./postgres-store.ts";
import type { Queries } from "./queries.ts";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { emptyIndex } from "./index/build/empty-index.ts";

/** Applies changes in a transaction that holds the sync lease. First removes the rows of an unfinished build. */
const applyChanges = async (sql: Queries, changes: IndexChanges): Promise<void> => {
  const { count, building } = await lockLedger(sql);
  if (count !== changes.from)
    throw new StoreUnavailable({
      retryable: true,
      cause: `the index stands at ${count}, not at ${changes.from}: another process has written`,
    });
  if (building !== null) await emptyIndex(sql);
  // First the transactions: inserted rows refer to them.
  await putTransactions(sql, changes.transactions);
  const hidden = await putUnseen(sql, changes.unseen);
  const seen = await putEscrows(sql, changes.escrows);
  await addCounts(sql, {
    escrows: seen.added - hidden.removed,
    unseen: hidden.added - seen.removed,
    merchants: await putMerchants(sql, changes.merchants),
  });
  if (changes.mark !== null) await putMark(sql, changes.mark);
  if (changes.snapshotAtMs !== undefined) await putSnapshotTime(sql, changes.snapshotAtMs);
};

type Store = PostgresStore["Service"];

/** Runs work in one transaction, under the lease's term. */
const inTerm = <A>(store: Store, work: (sql: Queries) => Promise<A>) =>
  Effect.flatMap(SyncEpoch, (epoch) =>
    store.transaction(async (step) => {
      await holdTerm(step, epoch);
      return work(step);
    }),
  );

const readerOf = ({ run }: Store): IndexReader["Service"] => ({
  escrows: storeCall(run, "IndexReader.escrows", escrowPage),
  escrowsAt: storeCall(run, "IndexReader.escrowsAt", escrowsAt),
  escrowsOfHash: storeCall(run, "IndexReader.escrowsOfHash", escrowsOfHash),
  events: storeCall(run, "IndexReader.events", eventPage),
  merchants: storeCall(run, "IndexReader.merchants", registryPage),
  sameNames: storeCall(run, "IndexReader.sameNames", sameNames),
  summary: Effect.withSpan(run(summaryIn), "IndexReader.summary"),
});

const writerOf = (store: Store): IndexWriter["Service"] => ({
  apply: Effect.fn("IndexWriter.apply")((changes) =>
    inTerm(store, (sql) => applyChanges(sql, changes)),
  ),
  merchantsAt: storeCall(store.run, "IndexWriter.merchantsAt", merchantsAt),
  unseen: storeCall(store.run, "IndexWriter.unseen", unseenAfter),
  build: Effect.withSpan(buildIndex(store), "IndexWriter.build"),
});

const logOf = (store: Store): LogStore["Service"] => ({
  leaves: storeCall(store.run, "LogStore.leaves", leavesFrom),
  isWriter: Effect.withSpan(
    Effect.flatMap(SyncEpoch, (epoch) => store.run((sql) => isTerm(sql, epoch))),
    "LogStore.isWriter",
  ),
  tile: storeCall(store.run, "LogStore.tile", tileAt),
  keepTiles: Effect.fn("LogStore.keepTiles")((tiles) =>
    inTerm(store, (sql) => keepTiles(sql, tiles)),
  ),
  standing: Effect.withSpan(store.run(standingIn), "LogStore.standing"),
  replaceStanding: Effect.fn("LogStore.replaceStanding")((before, next) =>
    inTerm(store, (sql) => replaceStanding(sql, before, next)),
  ),
});

/**
 * The index and the log's store in a Postgres database that several replicas may share. Writes are refused as retryable
 * once another replica's term has begun. Building the layer fails when the schema is of another version or of another
 * ledger.
 */
export const indexPostgres = (identity: LedgerIdentity) =>
  Layer.effectContext(
    Effect.map(openClaimed(identity), (store) =>
      Context.make(IndexReader, readerOf(store)).pipe(
        Context.add(IndexWriter, writerOf(store)),
        Context.add(LogStore, logOf(store)),
      ),
    ),
  );
