import { Effect } from "effect";
import type { StoreOfAnotherLedger } from "../../ports/index/store-refusal.ts";
import {
  differenceOf,
  IDENTITY_COLUMNS,
  type IdentityRow,
  identityValues,
  type LedgerIdentity,
} from "../sql/ledger-identity.ts";
import { PostgresStore } from "./postgres-store.ts";
import { type Queries, rowsOf } from "./queries.ts";

/** Whose rows a store holds, undefined while nobody has claimed it. */
export const storedIdentity = async (sql: Queries): Promise<IdentityRow | undefined> => {
  const [stored] = await rowsOf<IdentityRow>(sql, `SELECT ${IDENTITY_COLUMNS} FROM ledger`);
  return stored;
};

/** Records in a new store whose ledger it is; for an older store, returns how it differs, if it does. */
const claimLedger = async (
  sql: Queries,
  store: string,
  identity: LedgerIdentity,
): Promise<StoreOfAnotherLedger | undefined> => {
  await rowsOf(
    sql,
    `INSERT INTO ledger (${IDENTITY_COLUMNS}) VALUES ($1, $2, $3) ON CONFLICT (one) DO NOTHING`,
    identityValues(identity),
  );
  return differenceOf(store, await storedIdentity(sql), identity);
};

/**
 * The genesis hash that a store has recorded; null where there is no schema, nobody has claimed it or it cannot be
 * read.
 */
export const recordedGenesis: Effect.Effect<string | null, never, PostgresStore> = Effect.gen(
  function* () {
    const { run } = yield* PostgresStore;
    return yield* run(async (sql) => {
      const [{ there } = { there: false }] = await rowsOf<{ there: boolean }>(
        sql,
        "SELECT to_regclass('ledger') IS NOT NULL AS there",
      );
      if (!there) return null;
      return (await storedIdentity(sql))?.genesis_hash ?? null;
    });
  },
).pipe(Effect.orElseSucceed(() => null));

/** The store, ready and of this ledger. Fails when it is of another version or of another ledger. */
export const openClaimed = Effect.fn("openClaimed")(function* (identity: LedgerIdentity) {
  const store = yield* PostgresStore;
  yield* store.ready;
  const refusal = yield* store.run((sql) => claimLedger(sql, store.label, identity));
  if (refusal !== undefined) return yield* refusal;
  return store;
});
