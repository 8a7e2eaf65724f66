import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as syncMain } from "../../../app/commands/sync.ts";
import { main as verifyMain } from "../../../app/commands/verify.ts";
import type { EscrowRecord } from "../../../adapters/http/escrow/escrow-contract.ts";
import { bundledScript } from "../support/bundled-script.ts";
import { demoService } from "../support/demo-ledger.ts";
import { runHere } from "../support/run-here.ts";
import { runScript } from "../support/run-script.ts";
import { synced } from "../support/running-service.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

const { directory, service, end } = await demoService();

const run = (script: string, ...args: ReadonlyArray<string>) => {
  return runScript(script, args, { cwd: directory.path });
};

/** Runs a command as a user would. */
const runModules = (file: string, ...args: ReadonlyArray<string>) => run(join(ROOT, file), ...args);
/** Runs a command from a bundle, which starts sooner. */
const runBundle = async (file: string, ...args: ReadonlyArray<string>) =>
  run(await bundledScript(join(ROOT, file)), ...args);

const verify = (...args: ReadonlyArray<string>) => runBundle("app/commands/verify.ts", ...args);
const verifyHere = (...args: ReadonlyArray<string>) =>
  runHere((io) => runCommand(verifyMain, args, io));
const syncHere = (...args: ReadonlyArray<string>) =>
  runHere((io) => runCommand(syncMain, args, io));

const save = async (name: string, text: string): Promise<string> => {
  const path = join(directory.path, name);
  await Bun.write(path, text);
  return path;
};

afterAll(end);

test("sync makes a running service sync, and prints its report", async () => {
  const { code, stdout } = await runBundle("app/commands/sync.ts", "--service", service.url);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ data: { status: "completed" } });
});

test("sync --snapshot asks for a snapshot, and a flag that it does not know is refused", async () => {
  const statusOf = async () => {
    const answer = await fetch(`${service.url}/v1/status`);
    return ((await answer.json()) as { data: { indexer: Record<string, unknown> } }).data.indexer;
  };
  const asked = await syncHere("--service", service.url, "--snapshot");
  expect(asked.code).toBe(0);
  expect(JSON.parse(asked.stdout)).toMatchObject({ data: { status: "completed" } });
  expect((await statusOf())["last_snapshot_at"]).toBeString();
  for (const wrong of ["--snapshots", "--snapshot=yes"]) {
    const { code, stdout, stderr } = await syncHere(wrong);
    expect([code, stdout]).toEqual([64, ""]);
    expect(stderr).toContain("--snapshot");
  }
});

test("verify exits with 0 under the trust document, with 2 without one, and with 1 for a changed packet", async () => {
  await synced(service.url);
  const { data } = (await (await fetch(`${service.url}/v1/indexer?state=Fulfilled`)).json()) as {
    data: ReadonlyArray<EscrowRecord>;
  };
  const text = await (await fetch(`${service.url}/v1/evidence/${data[0]?.escrow_pda}`)).text();
  const changed = text.replace('"released_stroops":"', '"released_stroops":"9');
  expect(changed).not.toBe(text);
  const packet = await save("packet.json", text);
  const trust = await save(
    "trust.json",
    await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text(),
  );
  const [byFile, byUrl, without, forged, missing] = await Promise.all([
    verify(packet, "--trust", trust),
    verifyHere(packet, "--trust", service.url, "--json"),
    verifyHere(packet),
    verify(await save("changed.json", changed), "--trust", trust),
    verifyHere(join(directory.path, "nothing.json"), "--trust", trust),
  ]);
  expect([byFile.code, byUrl.code, without.code, forged.code, missing.code]).toEqual([
    0, 0, 2, 1, 66,
  ]);
  expect(byFile.stdout).toEndWith("\nverified\n");
  expect(JSON.parse(byUrl.stdout)).toMatchObject({ verdict: "verified" });
  expect(forged.stdout).toContain("FAILED    digest: ");
});

test("every command has a help text and refuses an unknown flag", async () => {
  const files = [
    "app/main.ts",
    ...["demo", "doctor", "sync", "verify"].map((n) => `app/commands/${n}.ts`),
  ];
  await Promise.all(
    files.map(async (file) => {
      const [help, wrong] = await Promise.all([
        runModules(file, "--help"),
        runBundle(file, "--no-such-flag"),
      ]);
      expect(help).toMatchObject({ code: 0, stderr: "" });
      expect(help.stdout).toContain("usage: bun run ");
      expect(wrong).toMatchObject({ code: 64, stdout: "" });
      expect(wrong.stderr).toContain("--no-such-flag");
    }),
  );
});
