import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Effect, Layer } from "effect";
import type { Address } from "../../core/domain/address.ts";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import { changesWriter } from "./index/apply-changes.ts";
import { escrowPages } from "./index/escrow-pages.ts";
import { eventPages } from "./index/event-pages.ts";
import { indexBuild } from "./index/index-build.ts";
import { INDEX_KIND } from "./index/index-schema.ts";
import { ledgerRow, unseenTable } from "./index/ledger-row.ts";
import { merchantPages, merchantTable } from "./index/merchant-table.ts";
import { tallyReader } from "./index/merchant-tally.ts";
import { differenceOf, type LedgerIdentity } from "../sql/ledger-identity.ts";
import { claimLedger, storedIdentity } from "./ledger-identity.ts";
import { logLeaves } from "./log/log-leaves.ts";
import { STANDING_FILE, STANDING_KIND, standingRow } from "./log/standing-file.ts";
import { tileFiles } from "./log/tile-files.ts";
import { openReader, openStore, refuseDamaged } from "./open-store.ts";
import { inTurns, storeCall, tryStore } from "./store-failure.ts";
import { writeTransactions } from "./write-transaction.ts";

/** The index's file, which a writer makes where there is none. */
type IndexOptions = LedgerIdentity & { readonly path: string };

/** Where an index and its log are kept. Nothing else may be in the log's folder. */
type IndexStoreOptions = IndexOptions & { readonly logFolder: string };

/**
 * The writes of the index in one SQLite file. Opening fails when the file is damaged, of another version, or of
 * another ledger. Changes are written a few milliseconds at a time, so that many hold up nobody until they are
 * committed.
 */
const openWriter = Effect.fn("openIndexWriter")(function* (options: IndexOptions) {
  const { path } = options;
  const db = yield* openStore(path, INDEX_KIND);
  const refusal = yield* tryStore(() => claimLedger(db, path, options));
  if (refusal !== undefined) return yield* refusal;
  // A process that ended in the middle of a snapshot has left its files.
  const folder = `${path}-build`;
  yield* tryStore(() => rmSync(folder, { recursive: true, force: true }));

  const write = writeTransactions(db);
  const apply = changesWriter(db);
  const merchants = merchantTable(db, "merchant");
  const unseen = unseenTable(db, "unseen_escrow");
  return IndexWriter.of({
    // Before the first mark nothing is told, and what a power cut takes is read again. From then on readers know what
    // the index is complete to, so that it must not go back.
    apply: Effect.fn("IndexWriter.apply")((changes) =>
      write(() => apply(changes), { durable: changes.from !== null || changes.mark !== null }),
    ),
    merchantsAt: storeCall("IndexWriter.merchantsAt", (addresses: ReadonlyArray<Address>) =>
      addresses.flatMap((address) => merchants.at(address) ?? []),
    ),
    unseen: storeCall("IndexWriter.unseen", unseen.page),
    build: indexBuild(db, write, folder),
  });
});

/** A connection that reads what is committed, for a file that a writer has opened before. */
const openIndexReader = Effect.fnUntraced(function* (options: IndexOptions) {
  const db = yield* openReader(options.path);
  const refusal = yield* tryStore(() => differenceOf(options.path, storedIdentity(db), options));
  if (refusal !== undefined) return yield* refusal;
  return db;
});

/**
 * The reads of an index that a writer, of this process or of another, has opened. A page takes a fraction of a
 * millisecond.
 */
const openPages = Effect.fn("openIndexReader")(function* (options: IndexOptions) {
  const db = yield* openIndexReader(options);
  const escrows = escrowPages(db);
  const events = eventPages(db, escrows.bodyAt);
  const merchants = merchantPages(db);
  const statsOf = tallyReader(db);
  const ledger = ledgerRow(db);
  const registry = db.transaction((...query: Parameters<typeof merchants.page>) =>
    merchants.page(...query).map(({ merchant, sameName }) => ({
      merchant,
      sameName,
      stats: statsOf(merchant.wallet),
    })),
  );
  // Another connection's commit changes it (sqlite.org/pragma.html, "data_version"), and this one writes nothing.
  const version = db.query<{ data_version: bigint }, []>("PRAGMA data_version");
  const revision = () => version.get()?.data_version ?? null;
  const readSummary = db.transaction(() => ({ ...ledger.read(), revision: revision() }));
  let latest: ReturnType<typeof readSummary> | null = null;
  // Each request for a page asks for it, and reading the version alone takes a third of the time.
  const summary = () =>
    latest !== null && latest.revision === revision() ? latest : (latest = readSummary.deferred());
  return IndexReader.of({
    escrows: storeCall("IndexReader.escrows", escrows.page),
    // Without a span: each live read of an escrow asks for it.
    escrowsAt: (addresses) => tryStore(() => escrows.at(addresses)),
    escrowsOfHash: storeCall("IndexReader.escrowsOfHash", escrows.ofHash),
    events: Effect.fn("IndexReader.events")((filter, limit, range) =>
      inTurns(() => events.page(filter, limit, range)),
    ),
    merchants: storeCall("IndexReader.merchants", registry.deferred),
    sameNames: storeCall("IndexReader.sameNames", merchants.sameNames),
    summary: tryStore(summary),
  });
});

/**
 * The log's leaves, from the rows of an index that a writer has opened, its full tiles as files, and how the log stands
 * in a file of its own: an index can be made anew from the ledger, but nothing tells again what a key has signed.
 */
const openLog = Effect.fn("openLogStore")(function* (options: IndexStoreOptions) {
  const leaves = logLeaves(yield* openIndexReader(options));
  const path = join(options.logFolder, STANDING_FILE);
  yield* tryStore(() => mkdirSync(options.logFolder, { recursive: true })).pipe(
    refuseDamaged(options.logFolder),
  );
  const db = yield* openStore(path, STANDING_KIND);
  const refusal = yield* tryStore(() => {
    db.run("PRAGMA synchronous = FULL");
    return claimLedger(db, path, options);
  });
  if (refusal !== undefined) return yield* refusal;
  const standing = standingRow(db);
  const tiles = tileFiles(options.logFolder);
  return LogStore.of({
    leaves: storeCall("LogStore.leaves", leaves),
    isWriter: Effect.succeed(true),
    tile: Effect.fn("LogStore.tile")(tiles.read),
    keepTiles: Effect.fn("LogStore.keepTiles")(tiles.keep),
    standing: Effect.withSpan(tryStore(standing.read), "LogStore.standing"),
    replaceStanding: storeCall("LogStore.replaceStanding", standing.replace),
  });
});

/** The writing side of an index; the only one on its file. It has to be built before the other two. */
export const indexWriterSqlite = (options: IndexOptions) =>
  Layer.effect(IndexWriter, openWriter(options).pipe(refuseDamaged(options.path)));

/** The reading side of an index that a writer has opened, in this process or in another. */
export const indexReaderSqlite = (options: IndexOptions) =>
  Layer.effect(IndexReader, openPages(options).pipe(refuseDamaged(options.path)));

/** The log beside an index that a writer has opened, in this process or in another. */
export const logStoreSqlite = (options: IndexStoreOptions) =>
  Layer.effect(LogStore, openLog(options).pipe(refuseDamaged(options.path)));

/** All of an index and its log in one process. */
export const indexSqlite = (options: IndexStoreOptions) =>
  Layer.merge(indexReaderSqlite(options), logStoreSqlite(options)).pipe(
    Layer.provideMerge(indexWriterSqlite(options)),
  );
