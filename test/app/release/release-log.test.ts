import { afterAll, beforeAll, beforeEach, expect, spyOn, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { main } from "../../../app/commands/release.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { checkLogged, logRelease, releasePolicy } from "../../../app/release/release-log.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { parseCheckpoint } from "../../../core/log/checkpoint/checkpoint.ts";
import { printSignatures } from "../../../core/log/notes/signed-note.ts";
import { printVerifierKey } from "../../../core/log/notes/verifier-key.ts";
import { judgeCheckpoint } from "../../../core/log/policy/judge-checkpoint.ts";
import { verifyConsistency } from "../../../core/log/tree/tree-proofs.ts";
import type { TreeHead } from "../../../core/log/tree/tree-edge.ts";
import { emptyRoot } from "../../../core/log/tree/tree-hash.ts";
import {
  parseAddCheckpoint,
  printTlogSize,
  TLOG_SIZE_TYPE,
} from "../../../core/log/witness/add-checkpoint.ts";
import { cosigned, testKey } from "../../core/log/support/test-signer.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const LOG = testKey("example.com/settlement-evidence/releases", "ed25519", 1);
const signer = (({ address, signMessage }) => ({ publicKey: address, sign: signMessage }))(
  keySigner(LOG.secret),
);

/** A witness of public logs (C2SP tlog-witness): it knows no ledger, and cosigns what begins with what it cosigned. */
const startWitness = (name: string, seed: number) => {
  const witness = testKey(name, "cosignature", seed);
  const seen = { head: { size: 0, root: emptyRoot() } as TreeHead, isAway: false };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      if (seen.isAway) return new Response("", { status: 503 });
      const asked = parseAddCheckpoint(await request.text());
      if ("fault" in asked) return new Response(asked.fault, { status: 400 });
      const { oldSize, proof, checkpoint } = asked.value;
      const parsed = parseCheckpoint(checkpoint);
      if ("fault" in parsed) return new Response(parsed.fault, { status: 400 });
      if (oldSize !== seen.head.size)
        return new Response(printTlogSize(seen.head.size), {
          status: 409,
          headers: { "content-type": TLOG_SIZE_TYPE },
        });
      const next = parsed.value.checkpoint;
      if (!verifyConsistency(seen.head, next, proof)) return new Response("", { status: 422 });
      seen.head = next;
      return new Response(
        printSignatures([cosigned(witness, parsed.value.note.text, 1_800_000_000n)]),
      );
    },
  });
  const line = `witness ${name} ${printVerifierKey(witness.key)} ${server.url.href}\n`;
  const stop = () => server.stop(true);
  return { line, seen, stop };
};

let witnesses: ReadonlyArray<ReturnType<typeof startWitness>>;
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let policyText: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
beforeEach(async () => {
  await Promise.all((witnesses ?? []).map(({ stop }) => stop()));
  witnesses = ["one.example", "two.example", "three.example"].map((name, at) =>
    startWitness(name, 10 + at),
  );
  policyText = [
    `log ${printVerifierKey(LOG.key)}\n`,
    ...witnesses.map(({ line }) => line),
    "group all 2 one.example two.example three.example\nquorum all\n",
  ].join("");
  rmSync(directory.path, { recursive: true, force: true });
  mkdirSync(directory.path);
});
afterAll(async () => {
  await Promise.all(witnesses.map(({ stop }) => stop()));
  await directory.remove();
});

const entry = (text: string): Uint8Array => new TextEncoder().encode(text);
const policy = () => releasePolicy(policyText);
const log = (text: string, folder = directory.path) =>
  logRelease(folder, entry(text), policy(), signer);
/** Why a release was not logged. */
const refusal = (work: Promise<string>): Promise<string> =>
  work.then(
    () => "it was logged",
    (cause: unknown) => String(cause),
  );
const sizeOf = (proof: string): number =>
  checkLogged(entry("one"), proof, policy()).checkpoint.size;

test("each release gets a proof, and the proofs of before hold on", async () => {
  const first = await log("one");
  expect(sizeOf(first)).toBe(1);
  for (let number = 2; number <= 20; number++) {
    const proof = await log(`release ${number}`);
    const judged = checkLogged(entry(`release ${number}`), proof, policy());
    expect(judged.checkpoint.size).toBe(number);
    expect(judged.counted.map(({ time }) => time)).toEqual([1_800_000_000n, 1_800_000_000n]);
    // The whole log can be read again from its files.
    expect(sizeOf(await log("one"))).toBe(number);
  }
  expect(sizeOf(first)).toBe(1);
  expect(existsSync(join(directory.path, "tile/entries/000.p/20"))).toBe(true);
  const checkpoint = readFileSync(join(directory.path, "checkpoint"), "utf8");
  expect(judgeCheckpoint(policy(), checkpoint)).toMatchObject({
    value: { checkpoint: { size: 20 } },
  });
});

test("each file of the log, and its name, is on disk before the checkpoint is replaced", async () => {
  const probe = await open(directory.path);
  const [files, folders]: [Array<number>, Array<number>] = [[], []];
  await probe.close();
  const handles = Object.getPrototypeOf(probe) as { sync: (this: FileHandle) => Promise<void> };
  const { sync } = handles;
  const syncing = spyOn(handles, "sync").mockImplementation(async function (this: FileHandle) {
    const state = await this.stat();
    (state.isFile() ? files : folders).push(state.ino);
    await sync.call(this);
  });
  const folder = join(directory.path, "log");
  try {
    await log("one", folder);
  } finally {
    syncing.mockRestore();
  }
  const inode = (path: string): number => statSync(join(folder, path)).ino;
  expect(files.at(-1)).toBe(inode("checkpoint"));
  for (const path of ["tile/0/000.p/1", "tile/entries/000.p/1"])
    expect(files).toContain(inode(path));
  for (const path of ["..", ".", "tile", "tile/0", "tile/0/000.p", "tile/entries/000.p"])
    expect(folders).toContain(inode(path));
});

test("a proof shows no other sums, no other log's and none without its quorum", async () => {
  const proof = await log("one");
  expect(() => checkLogged(entry("two"), proof, policy())).toThrow("does not lead from these sums");
  const other = policyText.replace(
    printVerifierKey(LOG.key),
    printVerifierKey(testKey(LOG.key.name, "ed25519", 2).key),
  );
  expect(() => checkLogged(entry("one"), proof, releasePolicy(other))).toThrow("did not sign");
  const bare = `${proof.split("\n").slice(0, -4).join("\n")}\n`;
  expect(() => checkLogged(entry("one"), bare, policy())).toThrow("quorum all wants 2");
  // Behind the log's own signature, a changed line is one of nobody who is known, or does not verify.
  const end = proof.indexOf("\n— one.example");
  for (let at = 0; at < end; at += 3) {
    const changed = `${proof.slice(0, at)}${proof[at] === "A" ? "B" : "A"}${proof.slice(at + 1)}`;
    expect(() => checkLogged(entry("one"), changed, policy())).toThrow();
  }
});

test("without the quorum nothing is published, and the same release alone goes on", async () => {
  await log("one");
  for (const { seen } of witnesses.slice(0, 2)) seen.isAway = true;
  expect(await refusal(log("two"))).toMatch(/quorum all wants 2 .*one.example: it answered 503/);
  const checkpoint = readFileSync(join(directory.path, "checkpoint"), "utf8");
  expect(judgeCheckpoint(policy(), checkpoint)).toMatchObject({
    value: { checkpoint: { size: 1 } },
  });
  for (const { seen } of witnesses) seen.isAway = false;
  expect(await refusal(log("another"))).toMatch("Another release waits");
  expect(checkLogged(entry("two"), await log("two"), policy()).checkpoint.size).toBe(2);
});

test("a log that forgot what it signed gets no quorum for another history", async () => {
  const copy = `${directory.path}/copy`;
  const folder = `${directory.path}/log`;
  await log("one", folder);
  cpSync(folder, copy, { recursive: true });
  await log("two", folder);
  expect(await refusal(log("not two", copy))).toMatch("quorum all wants 2");
  await log("three", folder);
  expect(await refusal(log("not two", copy))).toMatch(
    "it has cosigned size 3, and this log has less",
  );
});

test("files that are not the checkpoint's, and a signer of another log, are refused", async () => {
  await log("one");
  const other = keySigner(new Uint8Array(32).fill(3));
  const wrong = { publicKey: other.address, sign: other.signMessage };
  expect(await refusal(logRelease(directory.path, entry("two"), policy(), wrong))).toMatch(
    "is not that of the policy's log",
  );
  const bundle = join(directory.path, "tile/entries/000.p/1");
  writeFileSync(bundle, Buffer.from([0, 3, ...entry("eno")]));
  expect(await refusal(log("two"))).toMatch("are not those of its checkpoint");
  writeFileSync(bundle, Buffer.from([0, 9, ...entry("eno")]));
  expect(await refusal(log("two"))).toMatch("an entry is cut off");
});

test("by command: a release is logged by a key file, and a stranger checks it offline", async () => {
  const release = join(directory.path, "release");
  mkdirSync(release);
  writeFileSync(join(release, "file"), "content");
  const sum = new Bun.CryptoHasher("sha256").update("content").digest("hex");
  const sums = [`${sum}  file`, `${"0".repeat(64)}  large/file`];
  const writeSums = (...more: ReadonlyArray<string>) =>
    writeFileSync(join(release, "SHA256SUMS"), [...sums, ...more, ""].join("\n"));
  writeSums();
  const policyFile = join(directory.path, "policy");
  writeFileSync(policyFile, policyText);
  const key = join(directory.path, "key");
  writeFileSync(key, Buffer.from(LOG.secret).toString("base64"), { mode: 0o600 });
  const run = (...args: ReadonlyArray<string>) =>
    runHere((io) => runCommand(main, ["--out", release, ...args], io));
  const logged = await run(
    "--log",
    join(directory.path, "log"),
    "--policy",
    policyFile,
    "--key",
    key,
  );
  expect(logged).toMatchObject({ code: 0, stderr: "" });
  await Promise.all(witnesses.map(({ stop }) => stop()));
  expect(await run("--check", "--policy", policyFile)).toEqual({
    code: 0,
    stderr: "",
    stdout: `1 files are those of SHA256SUMS; not here: large/file.
Of which version and commit they are, release.json says, which is not here.
example.com/settlement-evidence/releases holds them among its 1, cosigned by one.example at 2027-01-15T08:00:00.000Z, two.example at 2027-01-15T08:00:00.000Z.
`,
  });
  for (const [plant, reason] of [
    [(path: string) => writeFileSync(path, "planted"), "planted is there, and SHA256SUMS"],
    [(path: string) => symlinkSync("file", path), "planted is neither a file nor a folder"],
  ] as const) {
    plant(join(release, "planted"));
    const stderr = expect.stringContaining(reason);
    expect(await run("--check")).toMatchObject({ code: 1, stderr });
    rmSync(join(release, "planted"));
  }
  const state = (stated: string): void => {
    writeFileSync(join(release, "release.json"), stated);
    writeSums(`${new Bun.CryptoHasher("sha256").update(stated).digest("hex")}  release.json`);
  };
  state(JSON.stringify({ version: "1.0.0-devnet.1", commit: "ab".repeat(20) }));
  expect((await run("--check")).stdout).toEndWith(
    `They are the release 1.0.0-devnet.1 of the commit ${"ab".repeat(20)}.\n`,
  );
  for (const stated of ["null", "{", '{"version":"1.0.0\\u001b[2J","commit":"x"}']) {
    state(stated);
    const stderr = "release.json names no version and commit\n";
    expect(await run("--check")).toMatchObject({ code: 1, stderr });
  }
  writeFileSync(join(release, "file"), "contents");
  expect(await run("--check")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("file has the SHA-256"),
  });
  expect(await run("--check", "--verify")).toMatchObject({ code: 64 });
  expect(await run("--log", "x", "--key", key)).toMatchObject({ code: 64 });
});
