import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { chmod, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { Effect } from "effect";
import { projectCommand } from "../../../core/domain/project-command.ts";
import { ed25519Key } from "../../../adapters/signer/ed25519-key.ts";
import { diagnose } from "../../../app/doctor/diagnose.ts";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { printVerifierKey, verifierKey } from "../../../core/log/notes/verifier-key.ts";
import packageJson from "../../../package.json" with { type: "json" };
import { startKms } from "../../doubles/fake-kms.ts";
import { temporaryDirectory } from "../support/running-service.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let folders = 0;
let folder: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
beforeEach(async () => {
  folder = join(directory.path, String(++folders));
  await mkdir(folder);
});
/** Witnesses by the status that they answer a request with that is none. */
const witnessing = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ url }) => new Response("", { status: Number(new URL(url).pathname.split("/")[1]) }),
});
const ANSWERS = `${witnessing.url.origin}/400`;
afterAll(async () => {
  await witnessing.stop(true);
  await directory.remove();
});

const ORIGIN = "log.example/log/0123456789abcdef/0";

const save = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await Bun.write(path, text);
  await chmod(path, 0o600);
  return path;
};
const seedText = (seed: number) => `${Buffer.alloc(32, seed).toString("base64")}\n`;
const vkeyOf = (name: string, use: "ed25519" | "cosignature", seed: number) =>
  printVerifierKey(verifierKey(name, use, ed25519Key(new Uint8Array(32).fill(seed)).publicKey));

/** The lines of the log and the witness, of settings that can all be used unless `changed` says otherwise. */
const linesWith = async (changed: Record<string, string> = {}) => {
  const files = {
    LOG_NAME: "own.example",
    LOG_SIGNING_KEY_FILE: await save("log.key", seedText(1)),
    LOG_WITNESSES: await save(
      "policy.txt",
      `witness one ${vkeyOf("one.example", "cosignature", 2)} ${ANSWERS}\nquorum one\n`,
    ),
    WITNESS_LOGS: await save("logs.txt", `${vkeyOf(ORIGIN, "ed25519", 3)} https://log.example\n`),
    WITNESS_KEY_FILE: await save("witness.key", seedText(4)),
    WITNESS_NAME: "own.example",
  };
  const data = join(folder, "data");
  const env = { PORT: "0", SOLANA_CLUSTER: "localnet", DATA_DIR: data, ...files, ...changed };
  const findings = await Effect.runPromise(diagnose(env, packageJson.engines.bun));
  expect(await readdir(folder)).not.toContain("data");
  return findings
    .filter(({ check }) => ["log", "witness", "key", "settings"].includes(check))
    .map(({ check, ok, text }) => `${ok ? "" : "!"}${check}: ${text}`);
};

test("keys and files that can be used are told", async () => {
  expect(await linesWith()).toEqual([
    "log: the key of own.example can sign; it has signed nothing yet",
    `log: ${folder}/policy.txt: one; quorum one`,
    `log: the witness one answers at ${ANSWERS}`,
    `witness: own.example can cosign ${ORIGIN}`,
  ]);
  expect((await readdir(folder)).toSorted()).toEqual([
    "log.key",
    "logs.txt",
    "policy.txt",
    "witness.key",
  ]);
});

test("a key that others can read, and one of two uses, are problems", async () => {
  const open = await save("open.key", seedText(7));
  await chmod(open, 0o644);
  expect((await linesWith({ LOG_SIGNING_KEY_FILE: open }))[0]).toContain("run chmod 600 on it");
  const same = await save("same.key", seedText(1));
  expect((await linesWith({ WITNESS_KEY_FILE: same })).at(-1)).toContain(
    "the log's key is the key of WITNESS_KEY_FILE",
  );
  expect((await linesWith({ EVIDENCE_SIGNING_KEY_FILE: same }))[0]).toContain(
    "it is an evidence key",
  );
});

test("a key that cannot be read is told once, however many checks need it", async () => {
  const lines = await linesWith({ LOG_SIGNING_KEY_FILE: "/dev/null/log.key" });
  expect(lines).toEqual([
    "!log: The log key of /dev/null/log.key cannot be used: the file cannot be read (ENOTDIR); name one that the service's user can read.",
  ]);
});

test("a policy or a list of logs that cannot be read is a problem", async () => {
  const bad = await save("bad.txt", "witness one\n");
  expect((await linesWith({ LOG_WITNESSES: bad }))[1]).toStartWith(`!log: LOG_WITNESSES ${bad}`);
  expect((await linesWith({ LOG_WITNESSES: `${bad}.none` }))[1]).toContain("ENOENT");
  expect((await linesWith({ WITNESS_LOGS: bad })).at(-1)).toStartWith("!witness: ");
  const silent = await save(
    "silent.txt",
    `witness one ${vkeyOf("one.example", "cosignature", 2)}\nquorum one\n`,
  );
  expect((await linesWith({ LOG_WITNESSES: silent }))[1]).toContain("has no URL");
});

test("a witness that does not answer is a problem with its cure, of either policy", async () => {
  const line = (name: string, seed: number, url: string) =>
    `witness ${name} ${vkeyOf(`${name}.example`, "cosignature", seed)} ${url}\n`;
  const away = `${witnessing.url.origin}/502`;
  const lines = await linesWith({
    LOG_WITNESSES: await save(
      "away.txt",
      `${line("one", 2, ANSWERS)}${line("two", 5, SILENT_ADDRESS)}quorum one\n`,
    ),
    LOG_WITNESSES_APPEND_ONLY: await save("other.txt", `${line("three", 6, away)}quorum three\n`),
  });
  const saying = (name: string, url: string, reason: string, option = "") =>
    `!log: the witness ${name} does not answer at ${url} (${reason}); start it or ask its operator; if it is gone for good: ${projectCommand(`cli log remove-witness ${name}${option}`)}`;
  expect(lines.slice(2, 5)).toEqual([
    `log: the witness one answers at ${ANSWERS}`,
    saying("two", SILENT_ADDRESS, /\((.*)\);/.exec(lines[3] ?? "")?.[1] ?? ""),
    saying("three", away, "it answers 502", " --append-only"),
  ]);
});

test("the witnesses that run beside the service are not missed while it is stopped", async () => {
  const line = (name: string, seed: number) =>
    `witness ${name} ${vkeyOf(name, "cosignature", seed)} ${SILENT_ADDRESS}\n`;
  const usual = await save("log-witnesses", `${line("own-1", 2)}${line("two", 5)}quorum own-1\n`);
  const lines = await linesWith({ DATA_DIR: folder, LOG_WITNESSES: "" });
  expect(lines[1]).toBe(`log: ${usual}: own-1, two; quorum own-1`);
  expect(lines[2]).toStartWith("!log: the witness two does not answer");
  expect(lines[3]).toStartWith("witness: ");
});

test("each key that somebody else holds signs once, and a holder that does not is a problem with its cure", async () => {
  const seed = new Uint8Array(32).fill(5);
  const address = addressFromBytes(ed25519Key(seed).publicKey);
  const socket = join(folder, "kms");
  using _kms = startKms(socket, seed, () => "signs");
  const log = await save("held.key", `agent:${address} ${socket}\n`);
  const other = addressFromBytes(ed25519Key(new Uint8Array(32).fill(6)).publicKey);
  const witness = await save("stale.key", `command:${other} echo the token is stale >&2; exit 3\n`);
  const lines = await linesWith({ LOG_SIGNING_KEY_FILE: log, WITNESS_KEY_FILE: witness });
  expect(lines.slice(-2)).toEqual([
    expect.stringMatching(/^key: the log's key is held by somebody else, who signed in \d+ ms$/),
    expect.stringMatching(
      /^!key: the witness's key: The key of the signing command, .* ended with 3\. .* It said: the token is stale\. See docs\/keys\.md/,
    ),
  ]);
  const next = await save("held.key.next", `agent:${other} ${socket}\n`);
  expect((await linesWith({ LOG_SIGNING_KEY_FILE: log })).at(-1)).toMatch(
    /^!key: the log's second key: .* does not hold/,
  );
  await chmod(next, 0o644);
  expect((await linesWith({ LOG_SIGNING_KEY_FILE: log }))[0]).toContain("run chmod 600 on it");
});
