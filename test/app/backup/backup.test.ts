import { describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { existsSync, readdirSync, symlinkSync, watch } from "node:fs";
import { chmod, mkdir, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Effect } from "effect";
import { webhookRecordsSqlite } from "../../../adapters/sqlite/webhook-records.ts";
import { filesBelow, MANIFEST_FILE, readBackup } from "../../../app/backup/manifest.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as backup } from "../../../app/commands/backup.ts";
import { main as restore } from "../../../app/commands/restore.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { WebhookRecords } from "../../../ports/webhook-records.ts";
import { runHere } from "../support/run-here.ts";
import { GENESIS, KEY, ROOT, put, standing, dataDirectories } from "./backup-world.ts";

const dataDirectory = dataDirectories();

const CLI = join(import.meta.dir, "../../../app/commands/cli.ts");

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe("a backup", () => {
  test("has every store and file but locks, spools and keys, and is restored as it was", async () => {
    const { to, path, data, backUp, restore: restoring } = await dataDirectory();
    const made = await backUp();
    expect(made).toMatchObject({ code: 0, stderr: "" });
    expect(made.stdout).toContain("with the log log.example/log/0123456789abcdef/0 at 300 leaves");
    const digest = /SHA-256 ([0-9a-f]{64})/.exec(made.stdout)?.[1] ?? "";
    const expected = [
      "imports/one.json",
      "index.sqlite",
      "log-signing-key.signed.json",
      "log-witnesses",
      "log/0/tile/0/000",
      "log/0/tile/0/001",
      "log/standing.sqlite",
      "packets.sqlite",
      "relay.sqlite",
    ];
    expect(await filesBelow(to)).toEqual([...expected, MANIFEST_FILE].sort());
    for (const name of expected) expect(await modeOf(join(to, name))).toBe(0o600);
    expect(await modeOf(to)).toBe(0o700);
    expect(await readBackup(to, null)).toMatchObject({
      protocol: 3,
      schema: 4,
      ledger: { genesis_hash: GENESIS, custody_program: LOCAL_DEPLOYMENT.custodyProgram },
      log: { size: 300, root: ROOT },
    });
    for (const name of expected) await chmod(join(to, name), 0o444);
    expect(await restoring(["--sha256", digest])).toMatchObject({ code: 0, stderr: "" });
    const restored = join(path, "new");
    for (const name of expected) expect(await modeOf(join(restored, name))).toBe(0o600);
    expect(await filesBelow(restored)).toEqual(expected);
    for (const name of expected.filter((each) => !each.endsWith(".sqlite")))
      expect(await readFile(join(restored, name), "utf8")).toBe(
        await readFile(join(data, name), "utf8"),
      );
  });

  test("has the keys in a folder of their own, for its user alone, also those that settings name", async () => {
    const { path, backUp, restore: restoring, env } = await dataDirectory();
    const [own, beside] = [join(path, "own-log-key"), join(path, "own-log-key.next")];
    await put(own, KEY.toLowerCase());
    await put(beside, KEY);
    await put(`${own}.signed.json`, standing);
    Object.assign(env, { LOG_SIGNING_KEY_FILE: own, LOG_NAME: "log.example" });
    const keys = join(path, "keys");
    expect(await backUp("--keys", keys)).toMatchObject({ code: 0, stderr: "" });
    const expected = [
      "evidence-signing-key",
      "log-signing-key",
      "log-signing-key.next",
      "log-signing-key.signed.json",
      "old-key",
      "pem",
    ];
    expect(await filesBelow(keys)).toEqual([...expected, MANIFEST_FILE].sort());
    for (const name of expected) expect(await modeOf(join(keys, name))).toBe(0o600);
    expect(await modeOf(keys)).toBe(0o700);
    expect(await readFile(join(keys, "log-signing-key"), "utf8")).toBe(KEY.toLowerCase());
    expect(await restoring(["--keys", keys])).toMatchObject({ code: 0 });
    expect(await readFile(join(path, "new/log-signing-key"), "utf8")).toBe(KEY.toLowerCase());
    env["LOG_SIGNING_KEY_FILE"] = join(path, "lost-key");
    const lost = ["--to", join(path, "later"), "--keys", join(path, "later-keys")];
    expect(await runHere((io) => runCommand(backup, lost, io), { env })).toMatchObject({
      code: 65,
      stderr: expect.stringMatching(/^key_missing: /),
    });
    const swapped = ["--from", keys, "--data-dir", join(path, "other")];
    expect(await runHere((io) => runCommand(restore, swapped, io), { env })).toMatchObject({
      code: 65,
      stderr: expect.stringMatching(/^no_backup: .* holds keys, not data\./),
    });
  });

  test("has the webhooks with the keys, whole, and their secrets nowhere in the data", async () => {
    const { path, data, to, backUp, restore: restoring } = await dataDirectory();
    const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    const keys = join(path, "keys");
    // While the service has the file open, its rows stand in the write-ahead log.
    await WebhookRecords.use(({ replace }) => replace("wh_0123456789abcdef", null, secret)).pipe(
      Effect.andThen(Effect.promise(() => backUp("--keys", keys))),
      Effect.provide(webhookRecordsSqlite(join(data, "webhooks.sqlite"))),
      Effect.scoped,
      Effect.runPromise,
    );
    for (const name of await filesBelow(to))
      expect((await readFile(join(to, name))).includes(secret)).toBe(false);
    expect(await restoring(["--keys", keys])).toMatchObject({ code: 0 });
    using copy = new Database(join(path, "new/webhooks.sqlite"), { readonly: true });
    expect(copy.query("SELECT text FROM webhook").values()).toEqual([[secret]]);
  });

  test("copies a store as one transaction sees it while another one is written", async () => {
    const { data, to, backUp } = await dataDirectory();
    using writer = new Database(join(data, "packets.sqlite"));
    const insert = writer.query(
      "INSERT INTO settled_packet (escrow, packet, digest) VALUES (?1, '{}', ?1)",
    );
    insert.run("committed");
    writer.run("BEGIN IMMEDIATE");
    insert.run("on its way");
    expect(await backUp()).toMatchObject({ code: 0 });
    writer.run("COMMIT");
    using copy = new Database(join(to, "packets.sqlite"), { readonly: true });
    expect(copy.query("SELECT escrow FROM settled_packet").values()).toEqual([["committed"]]);
    expect(copy.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
  });

  test("is refused by name where it cannot be whole", async () => {
    const { data, to, path, backUp, env } = await dataDirectory();
    const refused = async (name: string, ...args: ReadonlyArray<string>) => {
      const run = await backUp(...args);
      expect(run.code).toBe(65);
      expect(run.stderr).toStartWith(`${name}: `);
      expect((await readdir(path)).filter((each) => each.startsWith("backup."))).toEqual([]);
    };
    await refused("nothing_to_back_up", "--data-dir", join(path, "nowhere"));
    await mkdir(join(path, "empty"));
    await refused("nothing_to_back_up", "--data-dir", join(path, "empty"));
    await put(join(to, "file"), "");
    await refused("target_not_empty");
    await rm(to, { recursive: true });
    const inside = await runHere((io) => runCommand(backup, ["--to", join(data, "b")], io), {
      env,
    });
    expect(inside).toMatchObject({ code: 64, stderr: expect.stringContaining("data directory") });
    const held = join(data, "local-ledger/ledger.sqlite");
    await mkdir(dirname(held));
    {
      using ledger = new Database(held, { create: true });
      ledger.run("PRAGMA locking_mode = exclusive");
      ledger.run("CREATE TABLE held (a)");
      await refused("ledger_in_use");
    }
    expect(await backUp()).toMatchObject({ code: 0 });
    await rm(to, { recursive: true });
    for (const name of ["imports/elsewhere", "gone"]) {
      symlinkSync(name === "gone" ? "/nowhere" : path, join(data, name));
      await refused("link_in_data", "--keys", join(path, "keys"));
      expect((await backUp()).stderr).toContain(`${join(data, name)} is a symbolic link`);
      await rm(join(data, name));
    }
    // What is made anew is not copied, so that a link there leaves nothing out.
    await mkdir(join(data, "client-package"));
    symlinkSync("/nowhere", join(data, "client-package/bin"));
    expect(await backUp()).toMatchObject({ code: 0 });
    await rm(to, { recursive: true });
    await put(join(data, "index.sqlite"), "no database at all, but longer than a key".repeat(200));
    await refused("store_unusable");
  });

  test("that is killed on its way is never taken for a whole one", async () => {
    const { path, data, to, env } = await dataDirectory(120);
    let unfinished = 0;
    for (const killAt of [1, 5, 40, 90]) {
      const child = Bun.spawn([process.execPath, CLI, "backup", "--to", to], {
        env: { PATH: process.env["PATH"] ?? "", ...env },
        stdout: "ignore",
        stderr: "ignore",
      });
      // The kill comes when `killAt` tiles are copied.
      const draftOf = () => readdirSync(path).find((name) => name.startsWith("backup.unfinished-"));
      const copied = (draft: string): number => {
        const tiles = join(path, draft, "log/0/tile/0");
        return existsSync(tiles) ? readdirSync(tiles).length : 0;
      };
      const watcher = watch(path, { recursive: true }, () => {
        const draft = draftOf();
        if (draft !== undefined && copied(draft) >= killAt) child.kill("SIGKILL");
      });
      await child.exited;
      watcher.close();
      const draft = draftOf();
      if (draft === undefined) {
        // It was over before the kill: what stands there is whole.
        await readBackup(to, null);
        await rm(to, { recursive: true });
        continue;
      }
      expect(existsSync(to)).toBe(false);
      if (!existsSync(join(path, draft, MANIFEST_FILE))) {
        unfinished += 1;
        const args = ["--from", join(path, draft), "--data-dir", join(path, "new")];
        const run = await runHere((io) => runCommand(restore, args, io), { env });
        expect(run.stderr).toStartWith("backup_unfinished: ");
        expect(existsSync(join(path, "new"))).toBe(false);
      }
      await rm(join(path, draft), { recursive: true });
    }
    expect(unfinished).toBeGreaterThan(0);
    expect(existsSync(join(data, "index.sqlite"))).toBe(true);
  });
});
