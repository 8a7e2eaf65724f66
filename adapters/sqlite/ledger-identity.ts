import type { Database } from "bun:sqlite";
import type { StoreOfAnotherLedger } from "../../ports/index/store-refusal.ts";
import {
  differenceOf,
  IDENTITY_COLUMNS,
  type IdentityRow,
  identityValues,
  type LedgerIdentity,
} from "../sql/ledger-identity.ts";

/** Whose rows a store holds, null while nobody has claimed it. */
export const storedIdentity = (db: Database): IdentityRow | null =>
  db.query<IdentityRow, []>(`SELECT ${IDENTITY_COLUMNS} FROM ledger`).get();

/** Records in a new store whose ledger it is; for an older store, returns how it differs, if it does. */
export const claimLedger = (
  db: Database,
  path: string,
  identity: LedgerIdentity,
): StoreOfAnotherLedger | undefined => {
  db.query<null, [string, string, string]>(
    `INSERT INTO ledger (one, ${IDENTITY_COLUMNS}) VALUES (1, ?1, ?2, ?3) ON CONFLICT (one) DO NOTHING`,
  ).run(...identityValues(identity));
  return differenceOf(path, storedIdentity(db), identity);
};
