import type { Database } from "bun:sqlite";
import { Effect } from "effect";
import { existsSync } from "node:fs";
import type { StoreOfAnotherLedger } from "../../ports/index/store-refusal.ts";
import {
  differenceOf,
  IDENTITY_COLUMNS,
  type IdentityRow,
  identityValues,
  type LedgerIdentity,
} from "../sql/ledger-identity.ts";
import { openReader } from "./open-store.ts";
import { tryStore } from "./store-failure.ts";

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

/** Whether a file has the table that names its ledger: one of another version or program may have none. */
const hasLedger = (db: Database): boolean =>
  db.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'ledger'").get() !== null;

/**
 * The genesis hash that a store's file has recorded; null where there is no file, nobody has claimed it or it cannot be
 * read. Opening the store tells why it cannot be used.
 */
export const recordedGenesis = (path: string): Effect.Effect<string | null> =>
  Effect.suspend(() => (existsSync(path) ? openReader(path) : Effect.succeed(null))).pipe(
    Effect.flatMap((db) =>
      tryStore(() => (db !== null && hasLedger(db) ? storedIdentity(db) : null)),
    ),
    Effect.map((stored) => stored?.genesis_hash ?? null),
    Effect.orElseSucceed(() => null),
    Effect.scoped,
  );
