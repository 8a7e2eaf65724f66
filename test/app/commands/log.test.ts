import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmod, stat } from "node:fs/promises";
import { join } from "node:path";
import { projectCommand } from "../../../core/domain/project-command.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main } from "../../../app/commands/log.ts";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { parseCheckpoint } from "../../../core/log/checkpoint/checkpoint.ts";
import { parseVerifierKey, type VerifierKey } from "../../../core/log/notes/verifier-key.ts";
import { verifyNote } from "../../../core/log/notes/verify-note.ts";
import { printLogStanding } from "../../../core/use-cases/log/log-standing.ts";
import { runHere } from "../support/run-here.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
} from "../support/running-service.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

type LogStatus = {
  readonly state: string;
  readonly origin: string;
  readonly vkey: string;
  readonly next_vkey: string | null;
  readonly size: number;
  readonly published_size: number | null;
  readonly ended: string | null;
};

const runIn = (folder: string, env: Readonly<Record<string, string>> = {}) => {
  const own = ["--data-dir", folder];
  return (...args: ReadonlyArray<string>) =>
    runHere((io) => runCommand(main, [...args, ...own], io), { env });
};

const keyOf = (vkey: string): VerifierKey => {
  const key = parseVerifierKey(vkey);
  if ("fault" in key) throw new Error(key.fault);
  return key.value;
};

describe("on a service that runs", () => {
  test("the key is rotated and retired, then the log ended, and a restart changes nothing", async () => {
    const dataDir = join(directory.path, "service");
    const run = runIn(dataDir);
    const environment = quietEnvironment(dataDir);
    let service = await runService(environment);
    try {
      const status = async (): Promise<LogStatus> => {
        const answer = await fetch(`${service.url}/v1/status`);
        return ((await answer.json()) as { data: { log: LogStatus } }).data.log;
      };
      const published = async () => {
        const text = await (await fetch(`${service.url}/log/checkpoint`)).text();
        const parsed = parseCheckpoint(text);
        if ("fault" in parsed) return null;
        return { ...parsed.value, text };
      };
      const signers = async (): Promise<number> => (await published())?.note.signatures.length ?? 0;
      const first = await until("the log", status, ({ published_size }) => published_size !== null);
      expect(first.next_vkey).toBeNull();
      expect((await run("retire-key")).stderr).toContain("There is one key");

      const rotated = await run("rotate-key");
      expect(rotated).toMatchObject({ code: 0, stderr: "" });
      const next = join(dataDir, "log-signing-key.next");
      expect((await stat(next)).mode & 0o777).toBe(0o600);
      const both = await until("the overlap", status, ({ next_vkey }) => next_vkey !== null);
      expect(both.vkey).toBe(first.vkey);
      expect(rotated.stdout).toContain(`\n  ${both.next_vkey}\n`);
      await until("two lines", signers, (count) => count === 2);
      const overlap = await published();
      for (const vkey of [both.vkey, both.next_vkey ?? ""])
        expect(overlap && verifyNote(overlap.note, [keyOf(vkey)])).toHaveProperty("value");
      expect((await run("rotate-key")).stderr).toContain("Both keys sign already");

      expect(await run("retire-key")).toMatchObject({ code: 0, stderr: "" });
      const alone = await until("the new key", status, ({ next_vkey }) => next_vkey === null);
      expect(alone).toMatchObject({ vkey: both.next_vkey, origin: first.origin });
      await until("one line", signers, (count) => count === 1);

      const asked = await run("end");
      expect(asked.code).toBe(1);
      expect(asked.stderr).toContain(projectCommand(`cli log end ${first.origin}`));
      expect((await run("end", `${first.origin}0`)).code).toBe(64);
      expect(await run("end", first.origin)).toMatchObject({ code: 0, stderr: "" });
      const isLast = async () => (await published())?.checkpoint.isLast === true;
      await until("the last checkpoint", isLast, (is) => is);
      expect(await status()).toMatchObject({ state: "ended", ended: "its operator ended it" });
      const last = await published();
      expect(last?.text.split("\n")[3]).toBe("settlement-evidence log ended");
      expect((await run("end", first.origin)).stderr).toContain("has ended at");

      await service.stop();
      service = await runService(environment);
      const again = await until("the index", status, ({ state }) => state === "ended");
      expect(again).toMatchObject({ size: last?.checkpoint.size, vkey: alone.vkey });
      expect((await published())?.text).toBe(last?.text ?? "");
    } finally {
      await service.stop();
    }
  }, 120_000);
});

test("a key in a variable, a wrong action and a missing key are named", async () => {
  const folder = join(directory.path, "nothing");
  const inText = await runIn(folder, { LOG_SIGNING_KEY: "x" })("rotate-key");
  expect(inText.code).toBe(64);
  expect(inText.stderr).toContain("set LOG_SIGNING_KEY_FILE to that path");
  for (const args of [["turn-key"], ["rotate-key", "more"], ["end", "a", "b"]])
    expect((await runIn(folder)(...args)).code).toBe(64);
  expect((await runIn(folder)("rotate-key")).code).toBe(66);
});

test("nothing is made for a log that has signed nothing, or with a key that others may read", async () => {
  const path = join(directory.path, "own.key");
  await Bun.write(path, Buffer.alloc(32, 5).toString("base64"));
  const run = runIn(directory.path, { LOG_SIGNING_KEY_FILE: path });
  await chmod(path, 0o644);
  expect(await run("rotate-key")).toMatchObject({ code: 66 });
  await chmod(path, 0o600);
  const said = await run("rotate-key");
  expect(said.code).toBe(1);
  expect(said.stderr).toContain("has signed nothing yet");
  expect(await Bun.file(`${path}.next`).exists()).toBe(false);
});

test("a replica retires its old key after another one has ended the overlap", async () => {
  const path = join(directory.path, "replica.key");
  const [old, second] = [5, 6].map((byte) => Buffer.alloc(32, byte));
  if (old === undefined || second === undefined) throw new Error("there are two");
  await Bun.write(path, old.toString("base64"));
  await Bun.write(`${path}.next`, second.toString("base64"));
  for (const file of [path, `${path}.next`]) await chmod(file, 0o600);
  const keyIn = (seed: Uint8Array) => hash32FromBytes(ed25519Key(seed).publicKey);
  // As the replica's service noted it, which has both keys' files and read the other's standing in the store.
  const standing = printLogStanding({
    signed: {
      origin: "log.example/log/45ef13205b01e448/0",
      size: 3,
      root: hash32FromBytes(new Uint8Array(32).fill(7)),
    },
    publicKey: keyIn(second),
    nextKey: null,
    retiredKeys: [keyIn(old)],
    published: null,
    ended: null,
    predecessors: [],
  });
  await Bun.write(`${path}.signed.json`, standing);
  await chmod(`${path}.signed.json`, 0o600);
  const run = runIn(directory.path, { LOG_SIGNING_KEY_FILE: path });
  expect(await run("retire-key")).toMatchObject({ code: 0, stderr: "" });
  expect(await Bun.file(path).text()).toBe(second.toString("base64"));
  expect(await Bun.file(`${path}.next`).exists()).toBe(false);
});
