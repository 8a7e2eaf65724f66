import { Database } from "bun:sqlite";
import type { Effect } from "effect";
import type { StoreCorrupt, StoreUnavailable } from "../../ports/index/store-refusal.ts";
import type { IdentityRow } from "../sql/ledger-identity.ts";
import { storedIdentity } from "./ledger-identity.ts";
import { refuseDamaged } from "./open-store.ts";
import { tryStore } from "./store-failure.ts";

/** How long a copy waits for a process that holds the file for itself, milliseconds. */
const BUSY_MS = 2000;

const reading = <A>(
  path: string,
  read: (db: Database) => A,
): Effect.Effect<A, StoreUnavailable | StoreCorrupt> =>
  tryStore(() => {
    const db = new Database(path, { readonly: true });
    try {
      db.run(`PRAGMA busy_timeout = ${BUSY_MS}`);
      return read(db);
    } finally {
      db.close();
    }
  }).pipe(refuseDamaged(path));

/**
 * Copies a SQLite file into a new one as one transaction sees it, while others read and write it (`VACUUM INTO`). The
 * copy has the same application id, schema version and rows, and no write-ahead log.
 */
export const copyStore = (from: string, to: string) =>
  reading(from, (db) => void db.query("VACUUM INTO ?1").run(to));

/** The ledger whose rows a copied store holds; null while nobody had claimed it. */
export const identityOfCopy = (
  path: string,
): Effect.Effect<IdentityRow | null, StoreUnavailable | StoreCorrupt> =>
  reading(path, storedIdentity);

/** How the log stands by a copied file of its standing; null before its first signature. */
export const standingOfCopy = (path: string) =>
  reading(
    path,
    (db) => db.query<{ text: string }, []>("SELECT text FROM log_standing").get()?.text ?? null,
  );
