import { SettlementError } from "../../settlement-error.ts";
import { readSession } from "./kept-bytes.ts";
import { type KeptSession, NOT_BEGUN, type SessionStore } from "./session-store.ts";

/** A value of a row, or of a statement: bytes are hexadecimal text in both. */
export type SqlValue = string | number | null;
/** A row as every driver gives it. */
export type SqlRow = Readonly<Record<string, unknown>>;

/**
 * What a database does for a store of sessions. Statements are in the common language of SQLite and PostgreSQL, with
 * `$1`, `$1::bytes` for bytes given as hexadecimal text, `hex(column)` for bytes read so, and `:now` for the
 * database's clock in milliseconds.
 */
export type SessionSql = {
  /** Reads rows. */
  readonly read: (text: string, values: ReadonlyArray<SqlValue>) => Promise<ReadonlyArray<SqlRow>>;
  /** Changes rows by one statement, durably, and gives what it returns. */
  readonly write: (text: string, values: ReadonlyArray<SqlValue>) => Promise<ReadonlyArray<SqlRow>>;
  /** Changes a session's row, and only then inserts into its calls, both or neither. Says whether it did. */
  readonly record: (
    update: string,
    values: ReadonlyArray<SqlValue>,
    call: { readonly count: number; readonly isShown: boolean; readonly record: string },
  ) => Promise<boolean>;
  /** What a copy of the tables does not have; null where nothing tells. */
  readonly identity: () => Promise<string | null>;
};

/**
 * The tables, made where they are missing. `bytes` is the type of bytes, `serial` that of a row's own number, `rewritten`
 * what is said of a table whose rows change with every call. `shown` is null for calls, which takes no bytes.
 */
export const sessionTables = (
  bytes: string,
  serial: string,
  rewritten = "",
): ReadonlyArray<string> => [
  `CREATE TABLE IF NOT EXISTS settlement_store (one INTEGER PRIMARY KEY, version INTEGER NOT NULL, born BIGINT NOT NULL, identity TEXT)`,
  `CREATE TABLE IF NOT EXISTS settlement_processes (id TEXT PRIMARY KEY, held_until BIGINT NOT NULL)`,
  `CREATE TABLE IF NOT EXISTS settlement_sessions (id ${serial}, escrow TEXT NOT NULL UNIQUE, session TEXT NOT NULL, count INTEGER NOT NULL, head ${bytes}, closing ${bytes}, final ${bytes}, final_at BIGINT, answer ${bytes}, staged ${bytes}, holder TEXT, reservation INTEGER, ended INTEGER NOT NULL)${rewritten}`,
  `CREATE TABLE IF NOT EXISTS settlement_calls (session INTEGER NOT NULL, count INTEGER NOT NULL, shown INTEGER, record ${bytes} NOT NULL, PRIMARY KEY (session, count))`,
];

const VERSION = 2;

/** How sessions in a database are opened. */
export type SqlSessionsOptions = {
  /** Whether the database was restored from a backup that it cannot tell itself. */
  readonly restored?: boolean;
};

/** A text of a row; null for none and for an empty one. */
export const textIn = (row: SqlRow, name: string): string | null => {
  const value = row[name];
  return typeof value === "string" && value !== "" ? value : null;
};

/** A number of a row, whatever its driver makes of one. */
export const numberIn = (row: SqlRow, name: string): number => Number(row[name]);

/** Notices that the tables are new, or a copy: then they have not begun. */
export const noticeCopy = async (sql: SessionSql, isRestored: boolean): Promise<void> => {
  const identity = await sql.identity();
  await sql.write(
    `INSERT INTO settlement_store (one, version, born, identity) VALUES (1, ${VERSION}, ${NOT_BEGUN}, $1) ON CONFLICT (one) DO NOTHING`,
    [identity],
  );
  const [kept] = await sql.read(`SELECT version, identity FROM settlement_store`, []);
  if (kept === undefined || numberIn(kept, "version") !== VERSION)
    throw new SettlementError(
      "store_unusable",
      "The tables of sessions are of another version.",
      "Use the version that made them.",
    );
  if (!isRestored && textIn(kept, "identity") === identity) return;
  await sql.write(`UPDATE settlement_store SET born = ${NOT_BEGUN}, identity = $1`, [identity]);
};

/** Has tables begin that have not. */
export const beginOnce = async (
  sql: SessionSql,
  finalizedTime: Parameters<SessionStore["begin"]>[0],
): Promise<void> => {
  const [kept] = await sql.read(`SELECT born FROM settlement_store`, []);
  if (BigInt(String(kept?.["born"])) !== NOT_BEGUN) return;
  const began = Number(await finalizedTime());
  await sql.write(`UPDATE settlement_store SET born = $1 WHERE born = ${NOT_BEGUN}`, [began]);
};

/** Does what reads a row, and names its session where it is not what it must be. */
export const readingRow = <T>(escrow: string, work: () => T): T => {
  try {
    return work();
  } catch (cause) {
    if (!(cause instanceof RangeError) && !(cause instanceof SyntaxError)) throw cause;
    throw new SettlementError(
      "store_damaged",
      `The row of ${escrow} is damaged: ${cause.message}.`,
      "Restore the database from a copy, and say that it is restored.",
      { cause },
    );
  }
};

/** The session of a row. @throws SettlementError `store_damaged` */
export const sessionIn = (row: SqlRow): KeptSession =>
  readingRow(String(row["escrow"]), () => readSession(textIn(row, "session") ?? ""));
