import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { Effect } from "effect";
import { storedIdentity } from "./ledger-identity.ts";
import { openReader } from "./open-store.ts";
import { tryStore } from "./store-failure.ts";

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
