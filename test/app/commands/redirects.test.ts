import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as demo } from "../../../app/commands/demo.ts";
import { main as importEscrow } from "../../../app/commands/import-escrow.ts";
import { main as rebuildIndex } from "../../../app/commands/rebuild-index.ts";
import { main as sync } from "../../../app/commands/sync.ts";
import { main as verify } from "../../../app/commands/verify.ts";
import { main as CLIENT } from "../../../client/command-line/main.ts";
import { createKeyFile } from "../../../client/node/key-file.ts";
import { runHere } from "../support/run-here.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const TRUST = at("test/vectors/evidence/trust.json");
const PACKET = at("test/vectors/evidence/fulfilled.json");
const SOME = localKey("merchant/forecast").address as string;

let arrived: Array<string> = [];
const elsewhere = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    arrived.push(url);
    return new Response(Bun.file(url.includes("/v1/evidence/") ? PACKET : TRUST));
  },
});
const moved = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    const { pathname, search } = new URL(url);
    return Response.redirect(`${elsewhere.url.origin}${pathname}${search}`, 307);
  },
});
const url = moved.url.origin;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  await createKeyFile(join(directory.path, "key.json"));
});
afterAll(async () => {
  await Promise.all([elsewhere.stop(true), moved.stop(true)]);
  await directory.remove();
});

/** A bare file's name is of one in the directory. */
const inFolder = (arg: string): string =>
  /^\w+\.json$/.test(arg) ? join(directory.path, arg) : arg;

const KEY = ["--trust", TRUST, "--key", "key.json"];
const FILE = ["--trust", TRUST, "--key", "key.json"];
const PAYS = ["--merchant", SOME, "--amount", "1", "--task", "a", "--ttl", "60", "--nonce", "n"];

test.concurrent.each([
  ["verify --trust", verify, [PACKET, "--trust", url], 66],
  ["verify of an address", verify, [`${url}/v1/evidence/${SOME}`], 66],
  ["import-escrow", importEscrow, [`${url}/v1/evidence/${SOME}`], 66],
  ["sync", sync, ["--service", url], 69],
  ["rebuild-index", rebuildIndex, ["--service", url], 69],
  ["demo", demo, ["--service", url], 69],
  ["pay", CLIENT, ["pay", "--service", url, ...KEY, ...PAYS], 69],
  ["watch", CLIENT, ["watch", SOME, "--service", url, "--trust", TRUST, "--out", "p.json"], 69],
  ["refund", CLIENT, ["refund", SOME, "--service", url, ...KEY], 69],
  [
    "register",
    CLIENT,
    ["merchant", "register", "--service", url, ...FILE, "--attestor", SOME, "--name", "n"],
    69,
  ],
  [
    "export",
    CLIENT,
    ["merchant", "export", "--service", url, "--trust", TRUST, "--merchant", SOME],
    69,
  ],
] as const)("%s follows no redirect, and says what to do", async (_, command, args, code) => {
  const told = await runHere((io) => runCommand(command, args.map(inFolder), io));
  expect(told.stderr).toInclude(`redirects to ${elsewhere.url.origin}`);
  expect(told.stderr).toInclude("Give that address itself, if you trust it.");
  expect([told.code, told.stdout]).toEqual([code, expect.any(String)]);
  expect(arrived).toEqual([]);
});
