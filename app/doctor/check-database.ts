import { Effect, type Redacted } from "effect";
import { inspectServer, inspectStore } from "../../adapters/postgres/inspect-store.ts";
import { postgresStore } from "../../adapters/postgres/postgres-store.ts";
import type { LedgerIdentity } from "../../adapters/sql/ledger-identity.ts";
import type { DatabaseSettings } from "../config/settings.ts";
import { type Finding, finding, Problem } from "./finding.ts";

/** What the doctor says of a store that can be used; `version` is null for one that is not there yet. */
export const storeText = (store: string, version: number | null): string =>
  version === null ? `${store} will be made` : `${store}: schema version ${version}`;

const problem = (message: string) => Effect.fail(new Problem({ message }));

/** The database that takes writes, or the pooler before it. */
const checkPrimary = Effect.fnUntraced(function* (
  database: DatabaseSettings,
  identity: LedgerIdentity | null,
) {
  const { label, writable, version, isPooled } = yield* inspectStore(identity);
  if (!writable)
    return yield* problem(
      `${label} takes no writes; name the primary server and a role that may CREATE there, and for which default_transaction_read_only is off`,
    );
  const news =
    database.directUrl === null
      ? "replicas poll, because DATABASE_DIRECT_URL is not set"
      : "replicas hear of each other over DATABASE_DIRECT_URL";
  return `${storeText(label, version)}${isPooled ? `, through a pooler; ${news}` : ""}`;
});

/** The server behind the pooler. */
const checkDirect = Effect.gen(function* () {
  const { label, isPooled, isStandby } = yield* inspectServer;
  if (isPooled)
    return yield* problem(`${label} is a pooler; name the server itself in DATABASE_DIRECT_URL`);
  if (isStandby)
    return yield* problem(`${label} is a standby; name the primary in DATABASE_DIRECT_URL`);
  return `${label} can be listened at`;
});

/** The standby that rows are read from. */
const checkStandby = Effect.gen(function* () {
  const { label, isStandby } = yield* inspectServer;
  if (isStandby) return `${label} is a standby that can be read`;
  return yield* problem(`${label} is no standby; name one in DATABASE_READ_URL, or leave it out`);
});

const at = (url: Redacted.Redacted<URL>) => Effect.provide(postgresStore({ url, directUrl: null }));

/** Every database that is named in the settings. Nothing is written. */
export const checkDatabase = Effect.fnUntraced(function* (
  database: DatabaseSettings,
  identity: LedgerIdentity | null,
): Effect.fn.Return<ReadonlyArray<Finding>> {
  const { directUrl, readUrl } = database;
  const primary = checkPrimary(database, identity).pipe(Effect.provide(postgresStore(database)));
  const found = [yield* finding("store", primary)];
  if (directUrl !== null) found.push(yield* finding("store", at(directUrl)(checkDirect)));
  if (readUrl !== null) found.push(yield* finding("store", at(readUrl)(checkStandby)));
  return found;
});
