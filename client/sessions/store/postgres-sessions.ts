import { SettlementError } from "../../settlement-error.ts";
import {
  sessionTables,
  type SessionSql,
  type SqlRow,
  type SqlSessionsOptions,
  type SqlValue,
} from "./session-tables.ts";
import { type LeasedSessions, sqlSessions } from "./sql-sessions.ts";

/** Runs one statement with values for `$1` and on, and gives its rows: `pg`'s `pool.query`, `sql.unsafe` of Bun. */
export type PostgresQuery = (
  text: string,
  values: ReadonlyArray<string | null>,
) => Promise<ReadonlyArray<SqlRow> | { readonly rows: ReadonlyArray<SqlRow> }>;

const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** Every value is sent as text, so that no driver has to guess a type; numbers say theirs in the statement. */
const inPostgres = (text: string, values: ReadonlyArray<SqlValue>): string =>
  text
    .replaceAll(":now", NOW)
    .replaceAll(/hex\(([a-z.]+)\)/g, "encode($1, 'hex')")
    .replaceAll(/\$(\d+)(::bytes)?/g, (_, number: string, bytes: string | undefined) => {
      const text = `$${number}::text`;
      if (bytes !== undefined) return `decode(${text}, 'hex')`;
      return typeof values[Number(number) - 1] === "number" ? `(${text})::bigint` : text;
    });

/**
 * PostgreSQL keeps the old form of a changed row until a page is short of this much room. With the default, a session's
 * row does not fit where its old forms are not cleared yet, and the table grows by a page for every few calls.
 */
const REWRITTEN = " WITH (fillfactor = 50)";

/** Two processes that make tables at the same moment hinder each other. */
const MOST_TRIES = 3;

/**
 * A store of sessions in PostgreSQL, which any number of processes may share. Tables are made in the connection's
 * schema. Every change is one statement, so that a pool, also one behind PgBouncer, does. @throws SettlementError
 * `store_unusable`
 * @example
 * import { postgresSessions } from "settlement-evidence/sessions";
 *
 * const unreachable = () => Promise.reject(new Error("no server"));
 * await postgresSessions(unreachable).catch(({ code }) => code); // => "store_unusable"
 */
export const postgresSessions = async (
  query: PostgresQuery,
  options: SqlSessionsOptions = {},
): Promise<LeasedSessions> => {
  const run: SessionSql["read"] = async (text, values) => {
    try {
      const sent = values.map((value) => (value === null ? null : String(value)));
      const result = await query(inPostgres(text, values), sent);
      return "rows" in result ? result.rows : Array.from(result);
    } catch (cause) {
      throw new SettlementError(
        "store_unusable",
        `The database of sessions failed (${cause instanceof Error ? cause.message : "unknown error"}).`,
        "See that PostgreSQL can be reached and has room. What was refused may be kept.",
        { cause },
      );
    }
  };
  const sql: SessionSql = {
    read: run,
    write: run,
    record: async (update, values, { count, isShown, record }) => {
      const next = values.length + 1;
      const rows = await run(
        `WITH changed AS (${update} RETURNING id) INSERT INTO settlement_calls (session, count, shown, record) SELECT id, $${next}, NULLIF($${next + 1}, 0), $${next + 2}::bytes FROM changed RETURNING count`,
        [...values, count, isShown ? 1 : 0, record],
      );
      return rows.length > 0;
    },
    identity: async () => {
      const [row] = await run(
        `SELECT (SELECT system_identifier FROM pg_control_system())::text || ' ' || (SELECT oid FROM pg_database WHERE datname = current_database())::text || ' ' || ('settlement_store'::regclass::oid)::text AS identity`,
        [],
      );
      return String(row?.["identity"]);
    },
  };
  for (const table of sessionTables("BYTEA", "SERIAL PRIMARY KEY", REWRITTEN))
    for (let tries = 1; ; tries++)
      try {
        await run(table, []);
        break;
      } catch (cause) {
        if (tries === MOST_TRIES) throw cause;
      }
  return sqlSessions(sql, options);
};
