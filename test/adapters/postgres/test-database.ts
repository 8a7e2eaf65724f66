import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { SQL } from "bun";
import { Effect, Layer, Redacted } from "effect";
import { indexPostgres } from "../../../adapters/postgres/index-store.ts";
import { postgresStore } from "../../../adapters/postgres/postgres-store.ts";
import { TEST_DEPLOYMENT, TEST_GENESIS_HASH } from "../../arbitraries/test-ledger.ts";
import { type Index, withIndexOf } from "../../contracts/fresh-index.ts";
import { tmpdir } from "../../temporary-root.ts";
import { serverPrograms } from "./temporary-cluster.ts";

/** How often the replica that syncs is killed: POSTGRES_KILLS, 5 unless set. Other kills are in proportion. */
export const LEADER_KILLS = Number(process.env["POSTGRES_KILLS"] ?? 5);

let schemas = 0;

/** The address of a schema that nothing is in yet, on the server that `bun run test:more postgres` starts and names. */
export const freshSchema = (): URL => {
  const databaseUrl = process.env["TEST_DATABASE_URL"];
  if (databaseUrl === undefined) throw new Error("run by `bun run test:more postgres`");
  const url = new URL(databaseUrl);
  url.searchParams.set("schema", `test_${process.pid}_${++schemas}`);
  return url;
};

/** The ledger whose index the tests' stores hold. */
export const TEST_LEDGER = { genesisHash: TEST_GENESIS_HASH, deployment: TEST_DEPLOYMENT };

/** The server itself where the tests run through a pooler, null where they do not. */
const directUrl = process.env["TEST_DATABASE_DIRECT_URL"] ?? null;

/** The addresses of a schema: through the pooler and around it, where there is one. */
export const addressesAt = (url: URL) => ({
  url: Redacted.make(url),
  directUrl: directUrl === null ? null : Redacted.make(new URL(directUrl)),
});

/** As `addressesAt`, as a service's settings. */
export const databaseEnvironment = (url: URL): Readonly<Record<string, string>> => ({
  DATABASE_URL: url.href,
  ...(directUrl === null ? {} : { DATABASE_DIRECT_URL: directUrl }),
});

/** A store's layer. */
export const storeAt = (url: URL) => postgresStore(addressesAt(url));

/** The index in a schema, with connections of its own. */
export const indexAt = (url: URL, identity = TEST_LEDGER) =>
  indexPostgres(identity).pipe(Layer.provideMerge(storeAt(url)));

/** Opens the store in a schema, runs a program on it and closes it. */
export const withStore = <A, E>(
  url: URL,
  program: (index: Index) => Effect.Effect<A, E>,
  identity = TEST_LEDGER,
) => withIndexOf(indexAt(url, identity), program);

/** A client in a store's schema, beside the service. It closes when it goes out of scope. */
export const besideStore = (url: URL, settings: Readonly<Record<string, string | number>> = {}) => {
  const plain = new URL(directUrl ?? url);
  plain.searchParams.delete("schema");
  const search_path = String(url.searchParams.get("schema"));
  return new SQL(plain.href, { max: 1, bigint: true, connection: { ...settings, search_path } });
};

/** Runs statements beside the service, in the store's schema, and gives the rows of each. */
export const aside = async (url: URL, ...statements: ReadonlyArray<string>) => {
  await using sql = besideStore(url);
  const results: Array<ReadonlyArray<unknown>> = [];
  for (const statement of statements) results.push(Array.from(await sql.unsafe(statement)));
  return results;
};

const toldBy = async (command: ReadonlyArray<string>): Promise<void> => {
  const { exited, stderr } = Bun.spawn([...command], { stdout: "ignore", stderr: "pipe" });
  if ((await exited) !== 0) throw new Error(`${command[0]}: ${await new Response(stderr).text()}`);
};

/**
 * Backups of the store in a schema, as an operator makes them: `keep` dumps it in place of an earlier dump, `restore`
 * takes it back to the dump, which must be there. Nobody has the store open then. The dump is gone with the scope.
 */
export const dumpsOf = (url: URL) =>
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "dump-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true })),
  ).pipe(
    Effect.map((folder) => {
      const file = join(folder, "store.sql");
      const schema = String(url.searchParams.get("schema"));
      const plain = new URL(url);
      plain.searchParams.delete("schema");
      const program = (name: string) => join(serverPrograms() ?? "", name);
      return {
        keep: Effect.promise(() =>
          toldBy([program("pg_dump"), `--schema=${schema}`, `--file=${file}`, plain.href]),
        ),
        restore: Effect.promise(async () => {
          await aside(url, `DROP SCHEMA "${schema}" CASCADE`);
          const strictly = ["--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1"];
          await toldBy([program("psql"), ...strictly, `--file=${file}`, plain.href]);
        }),
      };
    }),
  );
