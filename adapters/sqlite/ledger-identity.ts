import type { Database } from "bun:sqlite";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { StoreOfAnotherLedger } from "../../ports/store-refusal.ts";

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
export const claimLedger = (
  db: Database,
  path: string,
  { genesisHash, deployment }: LedgerIdentity,
): StoreOfAnotherLedger | undefined => {
  const configured: Row = {
    genesis_hash: genesisHash,
    custody_program: deployment.custodyProgram,
    attestor_program: deployment.attestorProgram,
  };
  db.query<null, [string, string, string]>(
    `INSERT INTO ledger (one, genesis_hash, custody_program, attestor_program)
     VALUES (1, ?1, ?2, ?3) ON CONFLICT (one) DO NOTHING`,
  ).run(configured.genesis_hash, configured.custody_program, configured.attestor_program);
  const stored = db
    .query<Row, []>("SELECT genesis_hash, custody_program, attestor_program FROM ledger")
    .get();
  const fields = ["genesis_hash", "custody_program", "attestor_program"] as const;
  const differences = fields.flatMap((field) =>
    stored !== null && stored[field] !== configured[field]
      ? [{ field, stored: stored[field], configured: configured[field] }]
      : [],
  );
  return differences.length === 0
    ? undefined
    : new StoreOfAnotherLedger({ store: path, differences });
};
