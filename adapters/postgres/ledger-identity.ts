import { Effect } from "effect";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { eventChainStart } from "../../core/domain/index/event-chain.ts";
import { hash32ToBytes } from "../../core/domain/hash32.ts";
import { StoreOfAnotherLedger } from "../../ports/store-refusal.ts";
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

/** Records in a new store whose ledger it is; for an older store, returns how it differs, if it does. */
const claimLedger = async (
  sql: Queries,
  store: string,
  { genesisHash, deployment }: LedgerIdentity,
): Promise<StoreOfAnotherLedger | undefined> => {
  const configured: Row = {
    genesis_hash: genesisHash,
    custody_program: deployment.custodyProgram,
    attestor_program: deployment.attestorProgram,
  };
  await rowsOf(
    sql,
    `INSERT INTO ledger (genesis_hash, custody_program, attestor_program, chain_hash)
     VALUES ($1, $2, $3, $4) ON CONFLICT (one) DO NOTHING`,
    [
      configured.genesis_hash,
      configured.custody_program,
      configured.attestor_program,
      hash32ToBytes(eventChainStart(genesisHash, deployment)),
    ],
  );
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

/** The store, ready and of this ledger. Fails when it is newer than this version or of another ledger. */
export const openClaimed = Effect.fn("openClaimed")(function* (identity: LedgerIdentity) {
  const store = yield* PostgresStore;
  yield* store.ready;
  const refusal = yield* store.run((sql) => claimLedger(sql, store.label, identity));
  if (refusal !== undefined) return yield* refusal;
  return store;
});
