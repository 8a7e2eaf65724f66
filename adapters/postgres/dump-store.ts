import { SQL } from "bun";
import { Data, Effect, Redacted } from "effect";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import type { IdentityRow } from "../sql/ledger-identity.ts";
import { standingIn } from "./index/log-tables.ts";
import { storedIdentity } from "./ledger-identity.ts";
import { databaseOf } from "./postgres-store.ts";
import { rowsOf } from "./queries.ts";
import { tryStore } from "./try-store.ts";

/** PostgreSQL's own program is not on PATH, or ended with an error. */
export class PostgresToolFailed extends Data.TaggedError("PostgresToolFailed")<{
  readonly program: "pg_dump" | "pg_restore";
  /** Why, by what it printed; null when it is not on PATH. */
  readonly reason: string | null;
}> {}

/** What a dump holds, as one snapshot of the database shows it. */
type DumpedStore = {
  readonly schema: string;
  /** The program and its version. */
  readonly dumpedBy: string;
  readonly version: number;
  /** Null while nobody had claimed the store. */
  readonly identity: IdentityRow | null;
  /** How the log stood; null before its first signature. */
  readonly standing: string | null;
};

/** The names of libpq (PostgreSQL manual, 34.15), so that no argument shows the password to other users. */
const environmentOf = (url: URL): Record<string, string> => {
  const named = {
    PATH: process.env["PATH"] ?? "",
    PGHOST: url.hostname.replace(/^\[|\]$/g, ""),
    PGPORT: url.port,
    PGUSER: decodeURIComponent(url.username),
    PGPASSWORD: decodeURIComponent(url.password),
    PGDATABASE: decodeURIComponent(url.pathname.slice(1)),
    PGSSLMODE: url.searchParams.get("sslmode") ?? "",
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== ""));
};

/** What a program printed on standard output, once it has ended well. */
const run = async (
  program: PostgresToolFailed["program"],
  args: ReadonlyArray<string>,
  env: Record<string, string>,
): Promise<string> => {
  const path = Bun.which(program);
  if (path === null) throw new PostgresToolFailed({ program, reason: null });
  const child = Bun.spawn([path, ...args], {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [said, failed, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code === 0) return said.trim();
  throw new PostgresToolFailed({ program, reason: failed.trim().split("\n")[0] ?? "" });
};

const onTool = <A>(
  work: () => Promise<A>,
): Effect.Effect<A, StoreUnavailable | PostgresToolFailed> =>
  Effect.flatten(
    tryStore(() =>
      work().then(Effect.succeed, (cause: unknown) => {
        if (cause instanceof PostgresToolFailed) return Effect.fail(cause);
        throw cause;
      }),
    ),
  );

const connected = async <A>(url: URL, schema: string, work: (sql: SQL) => Promise<A>) => {
  const sql = new SQL(url.href, {
    bigint: true,
    max: 1,
    connectionTimeout: 5,
    connection: { application_name: "settlement-evidence backup", search_path: schema },
  });
  try {
    return await work(sql);
  } finally {
    await sql.close({ timeout: 1 });
  }
};

/** Whether the database at an address has the schema that it names, and a store's tables in it. */
export const inspectDatabase = (address: Redacted.Redacted<URL>) => {
  const { url, schema } = databaseOf(Redacted.value(address));
  return onTool(() =>
    connected(url, schema, async (sql) => {
      const [row] = await rowsOf<{ schema: boolean; store: boolean }>(
        sql,
        `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS schema,
           EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version') AS store`,
        [schema],
      );
      return { schema, hasSchema: row?.schema === true, hasStore: row?.store === true };
    }),
  );
};

/**
 * Writes the schema of a store into a file with `pg_dump`, as one snapshot shows it, while others read and write: for
 * the data all but the webhooks, whose rows hold secrets, and for the keys these rows alone.
 * `identity` and `standing` are of the same snapshot.
 */
export const dumpStore = (
  address: Redacted.Redacted<URL>,
  file: string,
  holds: "data" | "keys",
) => {
  const { url, schema } = databaseOf(Redacted.value(address));
  return onTool(() =>
    connected(url, schema, (sql) =>
      sql.begin("ISOLATION LEVEL REPEATABLE READ READ ONLY", async (step): Promise<DumpedStore> => {
        // The snapshot can be taken over for as long as this transaction is open.
        await step.unsafe("SET LOCAL idle_in_transaction_session_timeout = 0");
        const [snapshot] = await rowsOf<{ id: string }>(step, "SELECT pg_export_snapshot() AS id");
        const [row] = await rowsOf<{ version: number }>(step, "SELECT version FROM schema_version");
        const identity = (await storedIdentity(step)) ?? null;
        const standing = await standingIn(step);
        const env = environmentOf(url);
        const dumpedBy = await run("pg_dump", ["--version"], env);
        const what =
          holds === "data"
            ? [`--schema=${schema}`, `--exclude-table-data=${schema}.webhook`]
            : ["--data-only", `--table=${schema}.webhook`];
        const how = ["--format=custom", "--no-owner", "--no-privileges"];
        const of = [`--snapshot=${snapshot?.id ?? ""}`, `--file=${file}`];
        await run("pg_dump", [...how, ...what, ...of], env);
        return { schema, dumpedBy, version: row?.version ?? 0, identity, standing };
      }),
    ),
  );
};

/**
 * Reads the dumps of a schema into the database with `pg_restore`, one after the other. The schema must not be there. A
 * dump is read whole or not at all, and where a later one fails, the schema is dropped.
 */
export const restoreDumps = (address: Redacted.Redacted<URL>, files: ReadonlyArray<string>) => {
  const { url, schema } = databaseOf(Redacted.value(address));
  const env = environmentOf(url);
  const how = ["--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges"];
  return onTool(async () => {
    for (const [at, file] of files.entries())
      try {
        await run("pg_restore", [...how, `--dbname=${env["PGDATABASE"] ?? ""}`, file], env);
      } catch (cause) {
        if (at > 0)
          await connected(url, schema, (sql) => sql.unsafe(`DROP SCHEMA "${schema}" CASCADE`));
        throw cause;
      }
  });
};
