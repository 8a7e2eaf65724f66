import { Effect } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { StoreOfAnotherLedger } from "../../ports/index/store-refusal.ts";
import { PostgresStore } from "./postgres-store.ts";
import { type Queries, rowsOf } from "./queries.ts";

/** The ledger and programs whose rows a store holds. */
export type LedgerIdentity = {
  /** The hash of the ledger's first block, base58. */
  readonly genesisHash: string;
  readonly deployment: Deployment;
};

type Row = {
  readonly genesis_hash: string;
  readonly custody_program: string;
  readonly attestor_program: string;
};

const rowOf = ({ genesisHash, deployment }: LedgerIdentity): Row => ({
  genesis_hash: genesisHash,
  custody_program: deployment.custodyProgram,
  attestor_program: deployment.attestorProgram,
});

/** How a store's ledger differs from the configured one, undefined where it does not or nobody has claimed it. */
export const differenceFrom = async (
  sql: Queries,
  store: string,
  identity: LedgerIdentity,
): Promise<StoreOfAnotherLedger | undefined> => {
  const configured = rowOf(identity);
  const [stored = configured] = await rowsOf<Row>(
    sql,
    "SELECT genesis_hash, custody_program, attestor_program FROM ledger",
  );
  const fields = ["genesis_hash", "custody_program", "attestor_program"] as const;
  const differences = fields.flatMap((field) =>
    stored[field] === configured[field]
      ? []
      : [{ field, stored: stored[field], configured: configured[field] }],
  );
  return differences.length === 0 ? undefined : new StoreOfAnotherLedger({ store, differences });
};

/** Records in a new store whose ledger it is; for an older store, returns how it differs, if it does. */
const claimLedger = async (
  sql: Queries,
  store: string,
  identity: LedgerIdentity,
): Promise<StoreOfAnotherLedger | undefined> => {
  const { genesis_hash, custody_program, attestor_program } = rowOf(identity);
  await rowsOf(
    sql,
    `INSERT INTO ledger (genesis_hash, custody_program, attestor_program)
     VALUES ($1, $2, $3) ON CONFLICT (one) DO NOTHING`,
    [genesis_hash, custody_program, attestor_program],
  );
  return differenceFrom(sql, store, identity);
};

/** The genesis hash that a store has recorded; null where there is no schema, nobody has claimed it or it cannot be read. */
export const recordedGenesis: Effect.Effect<string | null, never, PostgresStore> = Effect.gen(
  function* () {
    const { run } = yield* PostgresStore;
    return yield* run(async (sql) => {
      const [{ there } = { there: false }] = await rowsOf<{ there: boolean }>(
        sql,
        "SELECT to_regclass('ledger') IS NOT NULL AS there",
      );
      if (!there) return null;
      const [stored] = await rowsOf<Pick<Row, "genesis_hash">>(
        sql,
        "SELECT genesis_hash FROM ledger",
      );
      return stored?.genesis_hash ?? null;
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
