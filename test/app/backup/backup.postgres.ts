import { SQL } from "bun";
import { afterAll, expect, test } from "bun:test";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as backup } from "../../../app/commands/backup.ts";
import { main as restore } from "../../../app/commands/restore.ts";
import { main as webhook } from "../../../app/commands/webhook.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { freshSchema } from "../../adapters/postgres/test-database.ts";
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

  // The restored store has room for webhooks, and no dump has their secrets.
  const webhooks = (args: ReadonlyArray<string>, of: Readonly<Record<string, string>>) =>
    runHere((io) => runCommand(webhook, args, io), { env: { ...env, ...programs, ...of } });
  expect((await webhooks(["list"], after)).stdout).toBe("There is no webhook.\n");
  const added = await webhooks(["add", "https://shop.example/settled"], before);
  const secret = /whsec_\S+/.exec(added.stdout)?.[0];
  expect(secret).toBeString();
  const kept = join(folder, "kept");
  const backedUp = await runHere((io) => runCommand(backup, ["--to", kept], io), {
    env: { ...env, ...before },
  });
  expect(backedUp).toMatchObject({ code: 0 });
  const dump = Bun.spawnSync(["pg_restore", "--file=-", join(kept, "database.dump")]);
  expect(dump.stdout.toString()).toContain("CREATE TABLE");
  expect(dump.stdout.toString()).not.toContain(secret ?? "");
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
