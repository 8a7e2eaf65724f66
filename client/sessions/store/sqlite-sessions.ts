import { SettlementError } from "../../settlement-error.ts";
import {
  sessionTables,
  type SessionSql,
  type SqlRow,
  type SqlSessionsOptions,
  type SqlValue,
} from "./session-tables.ts";
import { type LeasedSessions, sqlSessions } from "./sql-sessions.ts";

/** A connection to an SQLite database (3.41 or later) of the caller: `bun:sqlite`, `node:sqlite` or another like them. */
export type SqliteDatabase = {
  readonly exec: (sql: string) => unknown;
  readonly prepare: (sql: string) => {
    readonly run: (...values: Array<SqlValue>) => unknown;
    readonly all: (...values: Array<SqlValue>) => ReadonlyArray<unknown>;
  };
};

/** How sessions in SQLite are opened. */
export type SqliteSessionsOptions = SqlSessionsOptions & {
  /** What a copy of the database's file does not have, as `fileIdentity` of `settlement-evidence/node` gives it. */
  readonly identity?: string;
};

const NOW = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)";

const inSqlite = (text: string): string =>
  text
    .replaceAll(":now", NOW)
    .replaceAll(/\$(\d+)::bytes/g, "unhex($$$1)")
    .replaceAll(/\$(\d+)/g, "?$1");

const unusable = (cause: unknown): SettlementError =>
  new SettlementError(
    "store_unusable",
    `The database of sessions failed (${cause instanceof Error ? cause.message : "unknown error"}).`,
    "Make room, or see what else uses the database. What was refused is not kept.",
    { cause },
  );

type Waiting = {
  readonly work: () => void;
  readonly done: () => void;
  readonly failed: (cause: unknown) => void;
};

/** Does what is asked for in one turn of the event loop in one transaction, so that it is synced once. */
const inGroups = (db: SqliteDatabase) => {
  let waiting: Array<Waiting> = [];
  const commit = (): void => {
    const group = waiting;
    waiting = [];
    try {
      db.exec("BEGIN IMMEDIATE");
      try {
        for (const { work } of group) work();
        db.exec("COMMIT");
      } catch (cause) {
        db.exec("ROLLBACK");
        throw cause;
      }
    } catch (cause) {
      for (const { failed } of group) failed(unusable(cause));
      return;
    }
    for (const { done } of group) done();
  };
  return <T>(work: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      let result: T;
      if (waiting.length === 0) setImmediate(commit);
      waiting.push({
        work: () => {
          result = work();
        },
        done: () => resolve(result),
        failed: reject,
      });
    });
};

/**
 * A store of sessions in an SQLite database, which processes of one machine may share. It takes a connection of its own
 * and sets `journal_mode`, `synchronous` and `busy_timeout` on it. @throws SettlementError `store_unusable`
 * @example
 * import { Database } from "bun:sqlite";
 * import { sqliteSessions } from "settlement-evidence/sessions";
 *
 * const store = await sqliteSessions(new Database(":memory:"));
 * await store.unfinished(); // => []
 */
export const sqliteSessions = async (
  db: SqliteDatabase,
  { identity, restored = false }: SqliteSessionsOptions = {},
): Promise<LeasedSessions> => {
  const prepared = new Map<string, ReturnType<SqliteDatabase["prepare"]>>();
  const rows = (text: string, values: ReadonlyArray<SqlValue>): ReadonlyArray<SqlRow> => {
    let statement = prepared.get(text);
    if (statement === undefined) {
      statement = db.prepare(inSqlite(text));
      prepared.set(text, statement);
    }
    return statement.all(...values) as ReadonlyArray<SqlRow>;
  };
  const inGroup = inGroups(db);
  const sql: SessionSql = {
    read: async (text, values) => {
      try {
        return rows(text, values);
      } catch (cause) {
        throw unusable(cause);
      }
    },
    write: (text, values) => inGroup(() => rows(text, values)),
    record: (update, values, { count, isShown, record }) =>
      inGroup(() => {
        const [row] = rows(`${update} RETURNING id`, values);
        if (row === undefined) return false;
        rows(
          "INSERT INTO settlement_calls (session, count, shown, record) VALUES ($1, $2, NULLIF($3, 0), $4::bytes)",
          [Number(row["id"]), count, isShown ? 1 : 0, record],
        );
        return true;
      }),
    identity: () => Promise.resolve(identity ?? null),
  };
  try {
    db.exec("PRAGMA busy_timeout = 5000");
    db.exec("PRAGMA journal_mode = WAL");
    db.exec("PRAGMA synchronous = FULL");
    for (const table of sessionTables("BLOB", "INTEGER PRIMARY KEY")) db.exec(table);
  } catch (cause) {
    throw unusable(cause);
  }
  return sqlSessions(sql, { restored });
};
