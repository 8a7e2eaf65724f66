import { constants, Database } from "bun:sqlite";
import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Increased when the tables or the programs' accounts change. A database of another version is refused. */
const SCHEMA_VERSION = 4;

const refusalOf = (version: number, directory: string): string => {
  const cure = `Delete the folder ${directory}, or set another DATA_DIR`;
  return version < SCHEMA_VERSION
    ? `it holds escrows and merchants that these programs do not read (schema version ${version}, expected ${SCHEMA_VERSION}). ${cure}`
    : `schema version ${version}, expected ${SCHEMA_VERSION}. ${cure}`;
};

/**
 * `token_holder` is the index that finds a wallet's token accounts: bytes 32 to 63 of an SPL Token account are its
 * holder. u64 columns hold two's complement, because SQLite's integers are signed.
 */
const SCHEMA = `
  create table identity (
    genesis_hash blob not null, genesis_ms integer not null, seen_ms integer not null
  ) strict;
  create table account (
    address blob not null primary key, owner blob not null, lamports integer not null, data blob not null,
    executable integer not null, rent_epoch integer not null
  ) strict;
  create index account_owner on account (owner);
  create index token_holder on account (substr(data, 33, 32))
    where owner = x'06ddf6e1d765a193d9cbe146ceeb79ac1cb485ed5f5b37913a8cf5857eff00a9';
  create table ledger_transaction (
    position integer primary key, slot integer not null, signature blob not null unique,
    wire blob not null, error text, memo text, meta text not null
  ) strict;
  create index transaction_slot on ledger_transaction (slot);
  create table address_transaction (
    address blob not null, position integer not null, primary key (address, position)
  ) strict, without rowid;
`;

const pathIn = (directory: string): string => join(directory, "ledger.sqlite");

const versionOf = (database: Database): number =>
  Number(Object.values(database.query<object, []>("pragma user_version").get() ?? {})[0] ?? 0);

const messageOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

const codeOf = (cause: unknown): string =>
  cause instanceof Error && "code" in cause ? String(cause.code) : "";

const isBusy = (cause: unknown): boolean => codeOf(cause) === "SQLITE_BUSY";

const IN_PLACE_OF_FOLDER =
  "a file stands where a folder belongs. Move it away, or set another DATA_DIR";
const NOT_OPENED =
  "a folder stands there, or this user may not open it. Move the folder away or give that user the right, or set another DATA_DIR";

/** Why a ledger cannot be opened, with the cure where it is known. */
const reasonOf = (cause: unknown): string => {
  if (isBusy(cause)) return "another process is using it";
  const code = codeOf(cause);
  if (["EEXIST", "ENOTDIR"].includes(code)) return IN_PLACE_OF_FOLDER;
  if (code === "SQLITE_CANTOPEN") return NOT_OPENED;
  if (["SQLITE_NOTADB", "SQLITE_CORRUPT"].includes(code))
    return `${messageOf(cause)}. Move DATA_DIR away, and the next start begins a new ledger`;
  return messageOf(cause);
};

/**
 * Opens `DIR/ledger.sqlite` for this process alone, and creates it on first use. WAL with synchronous NORMAL:
 * acknowledged commits survive the end of the process. A loss of power can lose the last commits but never tears one.
 * @throws Error when another process holds it, it is damaged, or it has another schema version.
 */
export const openLedgerDatabase = (directory: string): Database => {
  const path = pathIn(directory);
  let database: Database | undefined;
  try {
    mkdirSync(directory, { recursive: true });
    database = new Database(path, { create: true, strict: true, safeIntegers: true });
    // A process that was just killed needs a moment to release the file.
    database.run("pragma busy_timeout = 1000");
    database.run("pragma locking_mode = exclusive");
    database.run("pragma journal_mode = wal");
    database.run("pragma synchronous = normal");
    const version = versionOf(database);
    const opened = database;
    if (version === 0)
      opened.transaction(() => {
        opened.run(SCHEMA);
        opened.run(`pragma user_version = ${SCHEMA_VERSION}`);
      })();
    else if (version !== SCHEMA_VERSION) throw new Error(refusalOf(version, directory));
    return opened;
  } catch (cause) {
    database?.close();
    throw new Error(`cannot open the ledger at ${path}: ${reasonOf(cause)}`, { cause });
  }
};

/** What was found of a ledger's database without opening it for work. */
export type InspectedLedger = { readonly path: string } & (
  | { readonly found: "nothing" | "in_use" }
  | { readonly found: "sound"; readonly version: number }
  /** Why `openLedgerDatabase` would refuse it. */
  | { readonly found: "unusable"; readonly reason: string }
);

/** Whether `DIR/ledger.sqlite` could be opened, and its schema version. Nothing is written, and nothing is thrown. */
export const inspectLedgerDatabase = (directory: string): InspectedLedger => {
  const path = pathIn(directory);
  try {
    if (statSync(directory, { throwIfNoEntry: false })?.isDirectory() === false)
      return { path, found: "unusable", reason: IN_PLACE_OF_FOLDER };
    const there = statSync(path, { throwIfNoEntry: false });
    if (there === undefined) return { path, found: "nothing" };
    if (there.isDirectory()) return { path, found: "unusable", reason: NOT_OPENED };
    // Immutable, so that SQLite makes no files beside it, unless a log of writes has to be read as well.
    const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
    using database = hasLog
      ? new Database(path, { readonly: true })
      : new Database(
          `${pathToFileURL(path).href}?immutable=1`,
          constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
        );
    const version = versionOf(database);
    return version === 0 || version === SCHEMA_VERSION
      ? { path, found: "sound", version }
      : { path, found: "unusable", reason: refusalOf(version, directory) };
  } catch (cause) {
    return isBusy(cause)
      ? { path, found: "in_use" }
      : { path, found: "unusable", reason: reasonOf(cause) };
  }
};
