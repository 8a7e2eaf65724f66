import { SQL } from "bun";
import { afterAll, expect, test } from "bun:test";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { Effect, Redacted } from "effect";
import { inspectDatabase, restoreDumps } from "../../../adapters/postgres/dump-store.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as backup } from "../../../app/commands/backup.ts";
import { main as restore } from "../../../app/commands/restore.ts";
import { main as webhook } from "../../../app/commands/webhook.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { aside, freshSchema } from "../../adapters/postgres/test-database.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { startedServices } from "../support/started-services.ts";
import { expectSameTree, expectToldOnce } from "./drill.ts";

const { start } = startedServices();
const directories: Array<Awaited<ReturnType<typeof temporaryDirectory>>> = [];
afterAll(() => Promise.all(directories.map(({ remove }) => remove())));

let databases = 0;

/** A schema, and one of the same name in a database of its own. */
const twoStores = async () => {
  const store = freshSchema();
  const name = `restored_${process.pid}_${++databases}`;
  const sql = new SQL(process.env["TEST_DATABASE_URL"] ?? "");
  await sql.unsafe(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`);
  await sql.close();
  const other = new URL(store);
  other.pathname = `/${name}`;
  return { before: { DATABASE_URL: store.href }, after: { DATABASE_URL: other.href } };
};

const place = async () => {
  const directory = await temporaryDirectory();
  directories.push(directory);
  return { folder: directory.path, start, ...(await twoStores()) };
};

test("a database that is dumped under load and restored gives the same tree, and is not restored over another", async () => {
  const at = await place();
  await expectSameTree(at);
  const { folder, before, after } = at;
  const again = ["--from", join(folder, "backup"), "--data-dir", join(folder, "third")];
  const env = {
    DATA_DIR: join(folder, "data"),
    SOLANA_RPC_URL: "http://127.0.0.1:9",
    SOLANA_CLUSTER: "localnet",
  };
  const restoring = (changes: Readonly<Record<string, string>>) =>
    runHere((io) => runCommand(restore, again, io), { env: { ...env, ...changes } });
  const programs = {
    CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.custodyProgram,
    ATTESTOR_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram,
  };
  expect(await restoring({ ...programs, ...after })).toMatchObject({
    code: 65,
    stderr: expect.stringMatching(/^target_not_empty: the database has the schema/),
  });
  expect((await restoring(programs)).stderr).toStartWith("database_needed: ");
  const elsewhere = new URL(before.DATABASE_URL);
  elsewhere.searchParams.set("schema", "another_name");
  const wrong = await restoring({ ...programs, DATABASE_URL: elsewhere.href });
  expect(wrong.stderr).toStartWith("database_refused: the dump is of the schema ");

  // The webhook came with the keys, and no dump of the data has its secret.
  const webhooks = (args: ReadonlyArray<string>, of: Readonly<Record<string, string>>) =>
    runHere((io) => runCommand(webhook, args, io), { env: { ...env, ...programs, ...of } });
  expect((await webhooks(["list"], after)).stdout).toContain("wh_");
  const dumped = (name: string): string =>
    Bun.spawnSync([
      "pg_restore",
      "--file=-",
      join(folder, name, "database.dump"),
    ]).stdout.toString();
  expect(dumped("backup")).toContain("CREATE TABLE");
  expect(dumped("backup")).not.toContain("whsec_");
  expect(dumped("backup-of-keys")).toContain("whsec_");
  expect(dumped("backup-of-keys")).not.toContain("CREATE");
  expect((await stat(join(folder, "backup-of-keys/database.dump"))).mode & 0o777).toBe(0o600);

  // A dump that cannot be read in leaves nothing of the one before it.
  const target = new URL(after.DATABASE_URL);
  await aside(target, `DROP SCHEMA "${target.searchParams.get("schema")}" CASCADE`);
  const address = Redacted.make(target);
  const files = ["backup/database.dump", "backup/manifest.json"].map((name) => join(folder, name));
  const failure = await Effect.runPromise(Effect.flip(restoreDumps(address, files)));
  expect(failure._tag).toBe("PostgresToolFailed");
  expect((await Effect.runPromise(inspectDatabase(address))).hasSchema).toBe(false);

  // Without the keys the restored store has room for webhooks.
  expect(await restoring({ ...programs, ...after })).toMatchObject({ code: 0 });
  expect((await webhooks(["list"], after)).stdout).toBe("There is no webhook.\n");
});

test("relays are told once, and the same, by a database that is restored from before them", async () =>
  expectToldOnce(await place()));

test("a database that does not answer or has no store is refused by name, and leaves nothing", async () => {
  const { folder, before } = await place();
  await mkdir(join(folder, "data"));
  const backingUp = (url: string) =>
    runHere((io) => runCommand(backup, ["--to", join(folder, "b")], io), {
      env: { DATA_DIR: join(folder, "data"), DATABASE_URL: url },
    });
  expect((await backingUp(before.DATABASE_URL)).stderr).toStartWith("nothing_to_back_up: ");
  const away = await backingUp("postgres://test@127.0.0.1:9/postgres");
  expect(away).toMatchObject({ code: 65, stderr: expect.stringMatching(/^database_refused: /) });
});
