import { constants, Database } from "bun:sqlite";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { Effect } from "effect";
import {
  StoreCorrupt,
  type StoreOfAnotherLedger,
  StoreTooNew,
  type StoreUnavailable,
} from "../../ports/index/store-refusal.ts";
import { differenceOf, type LedgerIdentity } from "../sql/ledger-identity.ts";
import { storedIdentity } from "./ledger-identity.ts";
import { refuseDamaged, SCHEMA_VERSION, type StoreKind } from "./open-store.ts";
import { tryStore } from "./store-failure.ts";

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Opens the file as immutable, so that SQLite makes no files beside it. Not when there is a write-ahead log to read.
 */
const openUnchanged = (path: string): Database =>
  sizeOf(`${path}-wal`) > 0
    ? new Database(path, { readonly: true })
    : new Database(
        `${pathToFileURL(path).href}?immutable=1`,
        constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI,
      );

/**
 * The schema version of a store's file; null where there is no file, or an empty one. Fails as opening it would, and
 * writes nothing. `identity` is null where the ledger is not known.
 */
export const inspectStore = (
  path: string,
  kind: StoreKind,
  identity: LedgerIdentity | null,
): Effect.Effect<
  number | null,
  StoreUnavailable | StoreTooNew | StoreCorrupt | StoreOfAnotherLedger
> => {
  const inspected = tryStore(() => {
    const there = statSync(path, { throwIfNoEntry: false });
    if (there === undefined) {
      // If a file stands where the folder should be, this fails, just as opening the store would.
      if (existsSync(dirname(path))) readdirSync(dirname(path));
      return null;
    }
    // SQLite's message for a folder does not name the cause.
    if (there.isDirectory()) readFileSync(path);
    using db = openUnchanged(path);
    const pragma = (name: string): number =>
      Object.values(db.query<Record<string, number>, []>(`PRAGMA ${name}`).get() ?? {})[0] ?? 0;
    if (pragma("schema_version") > 0 && pragma("application_id") !== kind.applicationId)
      return new StoreCorrupt({ store: path, reason: "it is the database of another program" });
    const version = pragma("user_version");
    if (version === 0) return null;
    if (version !== SCHEMA_VERSION)
      return new StoreTooNew({ store: path, found: version, supported: SCHEMA_VERSION });
    const stored = identity === null ? null : storedIdentity(db);
    return differenceOf(path, stored, identity) ?? version;
  });
  return Effect.gen(function* () {
    const outcome = yield* inspected;
    return typeof outcome === "object" && outcome !== null ? yield* outcome : outcome;
  }).pipe(refuseDamaged(path));
};
