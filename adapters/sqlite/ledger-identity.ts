import type { Database } from "bun:sqlite";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { StoreOfAnotherLedger } from "../../ports/index/store-refusal.ts";

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

/** Whose rows a store holds, null while nobody has claimed it. */
export const storedIdentity = (db: Database): Row | null =>
  db.query<Row, []>("SELECT genesis_hash, custody_program, attestor_program FROM ledger").get();

/** How a store's ledger differs from the configured one, undefined where it does not or one is not known. */
export const differenceOf = (
  path: string,
  stored: Row | null,
  identity: LedgerIdentity | null,
): StoreOfAnotherLedger | undefined => {
  if (stored === null || identity === null) return undefined;
  const configured = rowOf(identity);
  const fields = ["genesis_hash", "custody_program", "attestor_program"] as const;
  const differences = fields.flatMap((field) =>
    stored[field] === configured[field]
      ? []
      : [{ field, stored: stored[field], configured: configured[field] }],
  );
  return differences.length === 0
    ? undefined
    : new StoreOfAnotherLedger({ store: path, differences });
};

/** Records in a new store whose ledger it is; for an older store, returns how it differs, if it does. */
export const claimLedger = (
  db: Database,
  path: string,
  identity: LedgerIdentity,
): StoreOfAnotherLedger | undefined => {
  const { genesis_hash, custody_program, attestor_program } = rowOf(identity);
  db.query<null, [string, string, string]>(
    `INSERT INTO ledger (one, genesis_hash, custody_program, attestor_program)
     VALUES (1, ?1, ?2, ?3) ON CONFLICT (one) DO NOTHING`,
  ).run(genesis_hash, custody_program, attestor_program);
  return differenceOf(path, storedIdentity(db), identity);
};
