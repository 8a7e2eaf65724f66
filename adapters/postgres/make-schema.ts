import { StoreCorrupt, StoreTooNew } from "../../ports/index/store-refusal.ts";
import { type Queries, rowsOf } from "./queries.ts";
import { SCHEMA_VERSION, STORE_TABLES, WEBHOOK_TABLE } from "./store-schema.ts";

/** The advisory lock that is held while any schema of the database is made. The number is arbitrary. */
const MAKING_LOCK = 0x53_45_69_78;

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

/**
 * Makes a schema's tables where there are none, in a transaction, and returns why it cannot be used, if so. A lock until
 * its end has one of several replicas that start together make them; what fails leaves nothing.
 */
export const makeSchema = async (
  step: Queries,
  store: string,
  schema: string,
): Promise<StoreTooNew | StoreCorrupt | undefined> => {
  const refusal = await encodingRefusal(step, store);
  if (refusal !== undefined) return refusal;
  await rowsOf(step, "SELECT pg_advisory_xact_lock($1)", [MAKING_LOCK]);
  const named = [schema];
  const [there] = await rowsOf<{
    schema: boolean;
    version: boolean;
    webhook: boolean;
    tables: bigint;
  }>(
    step,
    `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS schema,
       EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version') AS version,
       EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'webhook') AS webhook,
       (SELECT count(*) FROM pg_tables WHERE schemaname = $1) AS tables`,
    named,
  );
  if (there?.version === true) {
    const [row] = await rowsOf<{ version: number }>(step, "SELECT version FROM schema_version");
    const version = row?.version ?? 0;
    if (version !== SCHEMA_VERSION)
      return new StoreTooNew({ store, found: version, supported: SCHEMA_VERSION });
    if (!there.webhook) await step.unsafe(WEBHOOK_TABLE);
    return undefined;
  }
  if (there !== undefined && there.tables > 0n)
    return new StoreCorrupt({
      store,
      reason: `schema "${schema}" holds another program's tables`,
    });
  if (there?.schema === false) await step.unsafe(`CREATE SCHEMA "${schema}"`);
  await step.unsafe("SET LOCAL statement_timeout = 0");
  await step.unsafe(STORE_TABLES);
  await step.unsafe(
    `CREATE TABLE schema_version (version INT4 NOT NULL);
     INSERT INTO schema_version VALUES (${SCHEMA_VERSION})`,
  );
  return undefined;
};
