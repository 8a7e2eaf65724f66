import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { createKeyFile } from "../../client/node/key-file.ts";
import { runScript } from "../app/support/run-script.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";

const COMMAND = fileURLToPath(new URL("../../client/bin/settlement-evidence.ts", import.meta.url));
const TRUST = join(import.meta.dir, "../vectors/evidence/trust.json");
const ESCROW = localKey("an escrow").address;
/** Clears the screen, writes another title, colours by a C1 character, turns the direction, and begins a line that looks like the command's own. */
const HOSTILE = 'x\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\n{"escrow":"paid"}';
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const hostile = (): Record<string, string> => ({
  code: "validation_failed",
  detail: HOSTILE,
  cure: HOSTILE,
});

const refunded = { escrow_pda: ESCROW, state: "Refunded", refunded_stroops: HOSTILE };
const registered = { name: HOSTILE, attestor: HOSTILE };

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let key = "";
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    const { pathname } = new URL(url);
    if (pathname.startsWith("/v1/merchants/")) return Response.json({ data: registered });
    return pathname === `/v1/escrows/${ESCROW}`
      ? Response.json({ data: refunded })
      : Response.json(hostile(), { status: 422 });
  },
});
beforeAll(async () => {
  folder = await temporaryDirectory();
  key = join(folder.path, "key.json");
  await createKeyFile(key);
});
afterAll(async () => {
  await server.stop(true);
  await folder.remove();
});

const run = (args: ReadonlyArray<string>) =>
  runScript(COMMAND, args, {
    env: { PATH: process.env["PATH"] ?? "", BUN_JSC_useDFGJIT: "0" },
    cwd: folder.path,
  });

test("a service writes no control characters to the terminal of a command", async () => {
  const service = ["--service", server.url.origin, "--trust", TRUST];
  const url = ["--service", server.url.origin, "--trust", TRUST];
  const [refused, done, exists] = await Promise.all([
    run(["refund", localKey("another escrow").address, ...service, "--key", key]),
    run(["refund", ESCROW, ...service, "--key", key]),
    run(["merchant", "register", ...url, "--attestor", ESCROW, "--name", "me", "--key", key]),
  ]);
  for (const { stdout, stderr } of [refused, done, exists])
    expect(`${stdout}${stderr}`).not.toMatch(CONTROLS);
  expect(refused.code).toBe(64);
  expect(refused.stderr.split("\n")).toHaveLength(2);
  expect(refused.stderr).toInclude("x[U+001B][2J");
  expect(done.code).toBe(0);
  expect(JSON.parse(done.stdout)).toMatchObject({ refunded: HOSTILE });
  expect(exists.code).toBe(1);
  expect(exists.stderr).toInclude("[U+009B]31m");
}, 120_000);
