import { Effect } from "effect";
import { StoreTooNew } from "../../ports/index/store-refusal.ts";
import { differenceOf, type LedgerIdentity } from "../sql/ledger-identity.ts";
import { storedIdentity } from "./ledger-identity.ts";
import { encodingRefusal } from "./make-schema.ts";
import { PostgresStore } from "./postgres-store.ts";
import { rowsOf } from "./queries.ts";
import { SCHEMA_VERSION } from "./store-schema.ts";

type Found = { readonly writable: boolean; readonly tables: boolean };

/**
 * Whether the database takes writes, whether a pooler stands before it, and its schema version, null where there is no
 * schema. Fails as opening it would, and writes nothing. `identity` is null where the ledger is not known.
 */
export const inspectStore = Effect.fnUntraced(function* (identity: LedgerIdentity | null) {
  const { label, schema, transaction, isPooled } = yield* PostgresStore;
  const outcome = yield* transaction(async (read) => {
    await rowsOf(read, "SET TRANSACTION READ ONLY");
    const refusal = await encodingRefusal(read, label);
    if (refusal !== undefined) return refusal;
    const [there] = await rowsOf<Found>(
      read,
      `SELECT NOT pg_is_in_recovery()
           AND current_setting('default_transaction_read_only') = 'off' AND coalesce(
             (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1),
             has_database_privilege(current_database(), 'CREATE')) AS writable,
           EXISTS (SELECT FROM pg_tables WHERE schemaname = $1 AND tablename = 'schema_version') AS tables`,
      [schema],
    );
    const writable = there?.writable === true;
    if (there?.tables !== true) return { writable, version: null };
    const [row] = await rowsOf<{ version: number }>(read, "SELECT version FROM schema_version");
    const version = row?.version ?? 0;
    if (version !== SCHEMA_VERSION)
      return new StoreTooNew({ store: label, found: version, supported: SCHEMA_VERSION });
    return differenceOf(label, await storedIdentity(read), identity) ?? { writable, version };
  });
  return "_tag" in outcome ? yield* outcome : { ...outcome, label, isPooled: yield* isPooled };
});

/** What a server is, whatever schema it holds. */
export const inspectServer = Effect.gen(function* () {
  const { label, run, isPooled } = yield* PostgresStore;
  const [row] = yield* run((sql) =>
    rowsOf<{ standby: boolean }>(sql, "SELECT pg_is_in_recovery() AS standby"),
  );
  return { label, isStandby: row?.standby === true, isPooled: yield* isPooled };
});
