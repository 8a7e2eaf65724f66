import { expect, test } from "bun:test";
import { Effect } from "effect";
import { inspectStore } from "../../../adapters/postgres/inspect-store.ts";
import { SCHEMA_VERSION } from "../../../adapters/postgres/store-schema.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";
import { aside, freshSchema, storeAt, TEST_LEDGER, withStore } from "./test-database.ts";

const inspect = (url: URL, identity: Parameters<typeof inspectStore>[0] = TEST_LEDGER) =>
  Effect.runPromise(inspectStore(identity).pipe(Effect.provide(storeAt(url))));

const refusalOf = (...asked: Parameters<typeof inspect>) =>
  inspect(...asked).then(
    () => "",
    (cause: unknown) => String(cause),
  );

test("a schema that is not there has no version, and is not made", async () => {
  const url = freshSchema();
  expect(await inspect(url)).toMatchObject({ writable: true, version: null });
  const name = url.searchParams.get("schema");
  expect(await aside(url, `SELECT FROM pg_namespace WHERE nspname = '${name}'`)).toEqual([[]]);
});

test("a store tells its version, another ledger's and one of another version are refused", async () => {
  const url = freshSchema();
  await Effect.runPromise(withStore(url, ({ reader }) => reader.summary));
  expect(await inspect(url)).toMatchObject({ writable: true, version: SCHEMA_VERSION });
  const other = { ...TEST_LEDGER, genesisHash: TEST_DEPLOYMENT.custodyProgram };
  expect(await refusalOf(url, other)).toContain("holds the index of another ledger: genesis_hash");
  await aside(url, "UPDATE schema_version SET version = 99");
  expect(await refusalOf(url)).toContain("has schema version 99");
});

test("a role that may not create anything is told apart", async () => {
  const url = freshSchema();
  const role = `reader_${process.pid}`;
  await aside(url, `CREATE ROLE ${role} LOGIN`);
  const asReader = new URL(url);
  asReader.username = role;
  expect(await inspect(asReader)).toMatchObject({ writable: false, version: null });
});

test("a server that takes no writes for now is told apart", async () => {
  const url = freshSchema();
  const role = `stopped_${process.pid}`;
  await aside(url, `CREATE ROLE ${role} LOGIN SUPERUSER`);
  const asStopped = new URL(url);
  asStopped.username = role;
  expect(await inspect(asStopped)).toMatchObject({ writable: true });
  await aside(url, `ALTER ROLE ${role} SET default_transaction_read_only = on`);
  expect(await inspect(asStopped)).toMatchObject({ writable: false });
});
