import type { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { Effect, type Scope } from "effect";
import { StoreCorrupt, StoreTooNew, StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { StoreDatabase } from "./store-database.ts";
import { tryStore, isDamage } from "./store-failure.ts";

/**
 * The version of each schema, `PRAGMA user_version` of its file. A file of another version is refused, never rewritten.
 */
export const SCHEMA_VERSION = 4;

/** What makes a file a store of one kind. */
export type StoreKind = {
  /** PRAGMA application_id, i32, not 0. */
  readonly applicationId: number;
  /** The SQL that makes its tables in an empty file. */
  readonly schema: string;
  /** The bytes of a page of a new file, a power of two; SQLite's own choice where it is not given. */
  readonly pageBytes?: number;
};

/** How long opening waits for another process that holds the file; nothing is served before. */
const OPENING_BUSY_MS = 2000;
/** How long a statement waits: SQLite blocks the event loop meanwhile, so hardly at all. */
const SERVING_BUSY_MS = 20;

/** How far the write-ahead log grows before it is copied into the file. */
const WAL_BYTES = 64 * 1024 * 1024;

/** Memory in which a connection keeps pages, in KiB. */
const PAGE_CACHE_KIB = 65_536;

/** Sets the memory in which a connection keeps pages, and in which SQLite sorts what an index is made of. */
export const setPageCache = (db: Database, kib: number = PAGE_CACHE_KIB): void =>
  void db.run(`PRAGMA cache_size = -${kib}`);

const pragma = (db: Database, name: string): number => {
  const row = db.query<Record<string, bigint>, []>(`PRAGMA ${name}`).get();
  return Number(Object.values(row ?? {})[0] ?? 0n);
};

/** Makes the tables of an empty file, in one transaction, and returns why another file cannot be used, if so. */
const makeTables = (
  db: Database,
  path: string,
  { applicationId, schema }: StoreKind,
): StoreTooNew | StoreCorrupt | undefined =>
  db
    .transaction(() => {
      const mark = pragma(db, "application_id");
      const version = pragma(db, "user_version");
      if (mark !== applicationId && (mark !== 0 || pragma(db, "schema_version") !== 0))
        return new StoreCorrupt({ store: path, reason: "it is the database of another program" });
      if (version !== 0)
        return version === SCHEMA_VERSION
          ? undefined
          : new StoreTooNew({ store: path, found: version, supported: SCHEMA_VERSION });
      db.run(schema);
      db.run(`PRAGMA application_id = ${applicationId}`);
      db.run(`PRAGMA user_version = ${SCHEMA_VERSION}`);
      return undefined;
    })
    .immediate();

/** Work of opening a store: its failures name the store, and one that finds the file damaged refuses it. */
export const refuseDamaged =
  (path: string) =>
  <A, E, R>(opening: Effect.Effect<A, E | StoreUnavailable, R>) =>
    Effect.catchIf(
      opening,
      (failure): failure is E & StoreUnavailable => failure instanceof StoreUnavailable,
      ({ retryable, cause, fault, store = path }) =>
        Effect.fail(
          isDamage(cause)
            ? new StoreCorrupt({ store, reason: "it is damaged or no SQLite database", cause })
            : new StoreUnavailable({ retryable, cause, fault, store }),
        ),
    );

/** A connection that closes with the scope. */
const connected = (path: string, open: () => Database) =>
  Effect.acquireRelease(tryStore(open), (opened) => Effect.sync(() => opened.close())).pipe(
    refuseDamaged(path),
  );

/** A second connection to an opened store: it reads what is committed, whatever the first is writing. */
export const openReader = (path: string) =>
  connected(path, () => {
    const db = new StoreDatabase(path, { readonly: true, strict: true, safeIntegers: true });
    db.run(`PRAGMA busy_timeout = ${SERVING_BUSY_MS}`);
    setPageCache(db);
    return db;
  });

/**
 * Opens a store's file and makes it where there is none; closed with the scope. WAL with synchronous=NORMAL: a killed
 * process loses nothing, a power cut may lose the newest transactions whole, which suits what can be read from the
 * ledger again.
 */
export const openStore = Effect.fn("openStore")(function* (
  path: string,
  kind: StoreKind,
): Effect.fn.Return<Database, StoreUnavailable | StoreTooNew | StoreCorrupt, Scope.Scope> {
  const db = yield* connected(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    const opened = new StoreDatabase(path, { create: true, strict: true, safeIntegers: true });
    opened.run(`PRAGMA busy_timeout = ${OPENING_BUSY_MS}`);
    if (kind.pageBytes !== undefined) opened.run(`PRAGMA page_size = ${kind.pageBytes}`);
    return opened;
  });
  const prepared = tryStore(() => {
    const refusal = makeTables(db, path, kind);
    if (refusal !== undefined) return refusal;
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = NORMAL");
    // A batch touches pages all over the indexes. A checkpoint each 64 MiB copies most of them once for several
    // batches. A log that has grown beyond that in one transaction is cut again.
    setPageCache(db);
    db.run(`PRAGMA wal_autocheckpoint = ${WAL_BYTES / pragma(db, "page_size")}`);
    db.run(`PRAGMA journal_size_limit = ${WAL_BYTES}`);
    db.run(`PRAGMA busy_timeout = ${SERVING_BUSY_MS}`);
    return undefined;
  });
  const refusal = yield* prepared.pipe(refuseDamaged(path));
  if (refusal !== undefined) return yield* refusal;
  return db;
});
