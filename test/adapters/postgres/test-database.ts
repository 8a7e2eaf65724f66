import { Layer, Redacted } from "effect";
import { indexPostgres } from "../../../adapters/postgres/index-store.ts";
import { postgresStore } from "../../../adapters/postgres/postgres-store.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";

let schemas = 0;

/** The address of a schema that nothing is in yet, on the server that `bun run test:postgres` starts and names. */
export const freshSchema = (): URL => {
  const databaseUrl = process.env["TEST_DATABASE_URL"];
  if (databaseUrl === undefined) throw new Error("run by `bun run test:postgres`");
  const url = new URL(databaseUrl);
  url.searchParams.set("schema", `test_${process.pid}_${++schemas}`);
  return url;
};

/** The ledger whose index the tests' stores hold. */
export const TEST_LEDGER = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };

/** A store's layer. */
export const storeAt = (url: URL) => postgresStore(Redacted.make(url));

/** The index in a schema, with connections of its own. */
export const indexAt = (url: URL, identity = TEST_LEDGER) =>
  indexPostgres(identity).pipe(Layer.provideMerge(storeAt(url)));
