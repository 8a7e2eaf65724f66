import type { SQL } from "bun";
import { StoreCorrupt, StoreTooNew } from "../../ports/index/store-refusal.ts";
import { type Queries, rowsOf } from "./queries.ts";

/** The advisory lock that is held during a migration of any schema of the database. The number is arbitrary. */
const MIGRATION_LOCK = 0x53_45_69_78;

/** Why this database cannot be used, undefined when it can: text must be stored as it is. */
export const encodingRefusal = async (
  sql: Queries,
  store: string,
): Promise<StoreCorrupt | undefined> => {
  const [row] = await rowsOf<{ server_encoding: string }>(sql, "SHOW server_encoding");
  return row?.server_encoding === "UTF8"
    ? undefined
    : new StoreCorrupt({ store, reason: `its encoding is ${row?.server_encoding}, not UTF8` });
};

/** A kind of schema: the steps that make its tables, oldest first, and how an older kind of the same name is told apart. */
export type SchemaKind = {
  readonly migrations: ReadonlyArray<string>;
  /** A table that every version has. A schema without it holds accounts of version 1, which this service does not read. */
  readonly table?: string;
};

/** Whether a schema has the table that every version of its kind has. `sql` runs with or without a transaction. */
export const hasTable = async (
  sql: Queries,
  schema: string,
  { table }: SchemaKind,
): Promise<boolean> => {
  if (table === undefined) return true;
  const found = await rowsOf(
    sql,
    "SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = $2",
    [schema, table],
  );
  return found.length > 0;
};

/**
 * Brings a schema forward, makes it where there is none, and returns why it cannot be used, if so. All
 * steps are one transaction under a lock of that transaction, so that of several replicas that start
 * together one takes them and the others find them done; a failed step leaves the schema as it was.
 */
export const migrate = async (
  sql: SQL,
  store: string,
  schema: string,
  kind: SchemaKind,
): Promise<StoreTooNew | StoreCorrupt | undefined> => {
  const { migrations } = kind;
  const refusal = await encodingRefusal(sql, store);
  if (refusal !== undefined) return refusal;
  return await sql.begin(async (step) => {
    await rowsOf(step, "SELECT pg_advisory_xact_lock($1)", [MIGRATION_LOCK]);
    const named = [schema];
    const [there] = await rowsOf<{ schema: boolean; version: boolean; tables: bigint }>(
      step,
      `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS schema,
         EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version') AS version,
         (SELECT count(*) FROM pg_tables WHERE schemaname = $1) AS tables`,
      named,
    );
    if (there?.version === false && there.tables > 0n)
      return new StoreCorrupt({
        store,
        reason: `schema "${schema}" holds another program's tables`,
      });
    if (there?.schema === false) await step.unsafe(`CREATE SCHEMA "${schema}"`);
    if (there?.version === false) {
      await step.unsafe("CREATE TABLE schema_version (version INT4 NOT NULL)");
      await step.unsafe("INSERT INTO schema_version VALUES (0)");
    }
    const [row] = await rowsOf<{ version: number }>(step, "SELECT version FROM schema_version");
    const found = row?.version ?? 0;
    const supported = migrations.length;
    if (found > supported || (found > 0 && !(await hasTable(step, schema, kind))))
      return new StoreTooNew({ store, found, supported });
    if (found === supported) return undefined;
    await step.unsafe("SET LOCAL statement_timeout = 0");
    for (const migration of migrations.slice(found)) await step.unsafe(migration);
    await rowsOf(step, "UPDATE schema_version SET version = $1", [supported]);
    return undefined;
  });
};
