import { describe, expect, test } from "bun:test";
import { symlinkSync } from "node:fs";
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestOf, filesBelow, MANIFEST_FILE } from "../../../app/backup/manifest.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { type DataDirectory, KEY, ROOT, put, dataDirectories } from "./backup-world.ts";

const dataDirectory = dataDirectories();

describe("a restore is refused, and leaves nothing,", () => {
  const refuses = async (
    world: DataDirectory,
    name: string,
    args: ReadonlyArray<string> = [],
    changes: Record<string, string> = {},
  ) => {
    const run = await world.restore(args, changes);
    expect({ name, ...run }).toMatchObject({
      code: 65,
      stderr: expect.stringMatching(new RegExp(`^${name}: `)),
    });
    expect(run.stderr).toMatch(/\. \S.*\n$/);
    expect((await readdir(world.path)).filter((each) => each.startsWith("new"))).toEqual([]);
  };

  test("for any file that is changed, missing or not of the backup", async () => {
    const world = await dataDirectory();
    await world.backUp();
    const sound = join(world.path, "sound");
    await cp(world.to, sound, { recursive: true });
    const anew = async (): Promise<void> => {
      await rm(world.to, { recursive: true });
      await cp(sound, world.to, { recursive: true });
    };
    const names = (await filesBelow(sound)).filter((name) => name !== MANIFEST_FILE);
    for (const [at, name] of names.entries()) {
      const file = join(world.to, name);
      const bytes = await readFile(file);
      const place = (at * 7919) % bytes.length;
      bytes[place] = (bytes[place] ?? 0) ^ 1;
      await writeFile(file, bytes);
      await refuses(world, "backup_changed");
      await rm(file);
      await refuses(world, "backup_changed");
      symlinkSync(join(sound, name), file);
      await refuses(world, "backup_changed");
      await anew();
    }
    await rm(join(world.to, "log"), { recursive: true });
    symlinkSync(join(sound, "log"), join(world.to, "log"));
    await refuses(world, "backup_changed");
    await anew();
    await put(join(world.to, "log/one-more"), "");
    await refuses(world, "backup_changed");
    await anew();
    await refuses(world, "backup_changed", ["--sha256", "00".repeat(32)]);
    await rm(join(world.to, MANIFEST_FILE));
    await refuses(world, "backup_unfinished");
    await rm(world.to, { recursive: true });
    await refuses(world, "no_backup");
  });

  test("for a manifest of another form, version or schema, and for paths that lead out", async () => {
    const world = await dataDirectory();
    await world.backUp();
    const path = join(world.to, MANIFEST_FILE);
    const text = await readFile(path, "utf8");
    const changed = async (name: string, change: (manifest: Record<string, unknown>) => void) => {
      const manifest = JSON.parse(text) as Record<string, unknown>;
      change(manifest);
      await writeFile(path, JSON.stringify(manifest));
      await refuses(world, name);
    };
    await changed("backup_of_another_version", (manifest) => (manifest["protocol"] = 4));
    await changed("backup_of_another_version", (manifest) => (manifest["schema"] = 5));
    await changed("backup_of_another_version", (manifest) => (manifest["format"] = "other/1"));
    const whole = Object.keys(JSON.parse(text) as object);
    for (const name of whole)
      await changed("backup_changed", (manifest) => void Reflect.deleteProperty(manifest, name));
    const { ledger, log } = JSON.parse(text) as Record<"ledger" | "log", object>;
    for (const [name, other] of [
      ["files", "none"],
      ["holds", "everything"],
      ["schema", "4"],
      ["database", { schema: "settlement" }],
      ["database", { schema: "settlement", dumped_by: "pg_dump" }],
      ["ledger", { ...ledger, custody_program: undefined }],
      ["log", { ...log, root: ROOT.toUpperCase() }],
    ] as const)
      await changed("backup_changed", (manifest) => (manifest[name] = other));
    for (const out of ["../data/old-key", "/etc/hostname", "log//x", "."])
      await changed("backup_changed", (manifest) => {
        manifest["files"] = [{ path: out, bytes: 1, sha256: ROOT }];
      });
    await writeFile(path, "{");
    await refuses(world, "backup_changed");
  });

  test("for keys of another digest, or that take the place of a file of the data", async () => {
    const world = await dataDirectory();
    const keys = join(world.path, "keys");
    const made = await world.backUp("--keys", keys);
    const [ofKeys = "", ofData = ""] = made.stdout.match(/[0-9a-f]{64}/g) ?? [];
    await refuses(world, "backup_changed", ["--keys", keys, "--keys-sha256", ofData]);
    const path = join(keys, MANIFEST_FILE);
    const text = await readFile(path, "utf8");
    // Whoever can remake the manifest of the keys plants a file, with what else the manifest then says.
    const planting = async (refusal: string, name: string, told: object = {}) => {
      const manifest = JSON.parse(text) as { readonly files: ReadonlyArray<object> };
      await put(join(keys, name), "planted");
      const planted = { path: name, bytes: 7, sha256: await digestOf(join(keys, name)) };
      const remade = { ...manifest, ...told, files: [...manifest.files, planted] };
      await writeFile(path, JSON.stringify(remade));
      await refuses(world, refusal, ["--keys", keys]);
      await rm(join(keys, name));
    };
    for (const name of ["index.sqlite", "index.sqlite-wal", "packets.sqlite-journal", "a.lock"])
      await planting("backup_changed", name);
    // What the data has not, and a dump's own name while the dumps of both are restored.
    for (const name of ["backfill.json", "log/0/tile/0/999", "database.dump.data"])
      await planting("backup_changed", name);
    const database = { schema: "settlement", dumped_by: "pg_dump" };
    await planting("database_refused", "database.dump", { database });
    await planting("backup_changed", "database.dump");
    await planting("backup_changed", "spare-key", { database });
    await planting("backup_of_another_version", "webhooks.sqlite", { schema: 3 });
    await writeFile(path, text);
    const without = await world.restore(["--keys-sha256", ofKeys]);
    expect(without.code).toBe(64);
    const right = ["--keys", keys, "--keys-sha256", ofKeys, "--sha256", ofData];
    expect(await world.restore(right)).toMatchObject({ code: 0, stderr: "" });
  });

  test("for data that brings a key, which the service would take for its own", async () => {
    const world = await dataDirectory();
    await world.backUp();
    const path = join(world.to, MANIFEST_FILE);
    const manifest = JSON.parse(await readFile(path, "utf8")) as { files: ReadonlyArray<object> };
    for (const [name, content] of [
      ["evidence-signing-key", KEY],
      ["webhooks.sqlite", "webhooks of somebody else"],
      ["log-signing-key.next", KEY],
    ] as const) {
      await put(join(world.to, name), content);
      const sha256 = await digestOf(join(world.to, name));
      const planted = { path: name, bytes: content.length, sha256 };
      await writeFile(path, JSON.stringify({ ...manifest, files: [...manifest.files, planted] }));
      await refuses(world, "backup_changed");
      await rm(join(world.to, name));
    }
  });

  test("for another ledger, another kind of store, and a place that is taken", async () => {
    const world = await dataDirectory();
    await world.backUp();
    const other = { CUSTODY_PROGRAM_ID: LOCAL_DEPLOYMENT.attestorProgram };
    await refuses(world, "backup_of_another_ledger", [], other);
    await refuses(world, "backup_of_another_ledger", [], { SOLANA_CLUSTER: "devnet" });
    const settings = [
      "SOLANA_RPC_URL",
      "SOLANA_CLUSTER",
      "CUSTODY_PROGRAM_ID",
      "ATTESTOR_PROGRAM_ID",
    ];
    const embedded = Object.fromEntries(settings.map((name) => [name, ""]));
    await refuses(world, "backup_of_another_ledger", [], embedded);
    await refuses(world, "database_needed", [], { DATABASE_URL: "postgres://u@127.0.0.1:9/x" });
    using node = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async (request) => {
        const { id } = (await request.json()) as { readonly id: unknown };
        const result = LOCAL_DEPLOYMENT.custodyProgram;
        return Response.json({ jsonrpc: "2.0", id, result });
      },
    });
    await refuses(world, "backup_of_another_ledger", [], { SOLANA_RPC_URL: node.url.href });
    await put(join(world.path, "new/file"), "");
    expect(await world.restore()).toMatchObject({
      code: 65,
      stderr: expect.stringMatching(/^target_not_empty: /),
    });
    expect(await filesBelow(join(world.path, "new"))).toEqual(["file"]);
  });
});
