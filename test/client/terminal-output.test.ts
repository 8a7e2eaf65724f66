import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { main } from "../../client/command-line/main.ts";
import { createKeyFile } from "../../client/node/key-file.ts";
import { runHere } from "../app/support/run-here.ts";
import { tmpdir } from "../temporary-root.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";

const TRUST = join(import.meta.dir, "../vectors/evidence/trust.json");
const ESCROW = localKey("an escrow").address;
/**
 * Clears the screen, writes another title, colours by a C1 character, turns the direction, and begins a line that looks
 * like the command's own.
 */
const HOSTILE = 'x\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\n{"escrow":"paid"}';
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const LONG = "A".repeat(100_000);

const hostile = (): Record<string, unknown> => ({
  code: `IGNORE ${HOSTILE}`,
  detail: HOSTILE + LONG,
  cure: HOSTILE,
  errors: [{ pointer: 1 }],
});

/** A merchant whose name is as hostile as its length allows. */
const registered = { name: HOSTILE.slice(0, 30), attestor: ESCROW };
/** What stands in the place of every member that a command could show. */
const junk = (text: string) => ({
  escrow_pda: ESCROW,
  state: "Refunded",
  refunded_stroops: text,
  attestor: text,
  name: text,
  status: text,
  next_cursor: text,
  transaction: { base64: text },
});

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let key = "";
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: ({ url }) => {
    const [, mode, path = ""] =
      /^\/(named|long|controls|problem)(.*)$/.exec(new URL(url).pathname) ?? [];
    if (mode === "named" && path.startsWith("/v1/merchants/"))
      return Response.json({ data: registered });
    if (mode === "long" || mode === "controls") {
      const data = junk(mode === "long" ? LONG : HOSTILE);
      return Response.json({ data, page: data, index: data });
    }
    return Response.json(hostile(), { status: 422 });
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

const run = (args: ReadonlyArray<string>) => runHere((io) => main(args, io));

const SOME = localKey("another escrow").address;
const PAYS = ["--merchant", SOME, "--amount", "1", "--task", "a", "--ttl", "60", "--nonce", "n"];
const CLAIMS = [SOME, "--template", "api-delivered-v1", "--payload", TRUST];
const NAMES = ["--attestor", ESCROW, "--name", "me"];
/** Where no packet comes to lie, since none is good. */
const OUT = join(tmpdir(), `packet-${process.pid}.json`);
const BY_SERVICE = ["--service"];

/** Every command that asks a service. */
const COMMANDS: Readonly<
  Record<string, readonly [ReadonlyArray<string>, string | null, ReadonlyArray<string>]>
> = {
  pay: [BY_SERVICE, "--key", PAYS],
  watch: [BY_SERVICE, null, [SOME, "--out", OUT]],
  refund: [BY_SERVICE, "--key", [ESCROW]],
  doctor: [BY_SERVICE, "--key", []],
  attest: [BY_SERVICE, "--key", CLAIMS],
  "merchant register": [BY_SERVICE, "--key", NAMES],
  "merchant rotate": [BY_SERVICE, "--key", ["--attestor", ESCROW]],
  "merchant cancel": [BY_SERVICE, "--key", [SOME]],
  "merchant watch": [BY_SERVICE, null, ["--merchant", SOME, "--once"]],
  "merchant export": [BY_SERVICE, null, ["--merchant", SOME]],
};

test.each(Object.entries(COMMANDS))(
  "%s writes nothing of a hostile service that moves a terminal or fills it",
  async (command, [service, keyOption, args]) => {
    await Promise.all(
      ["long", "controls", "problem"].map(async (mode) => {
        const { code, stdout, stderr } = await run([
          ...command.split(" "),
          ...args,
          ...service,
          `${server.url.origin}/${mode}`,
          "--trust",
          TRUST,
          ...(keyOption === null ? [] : [keyOption, key]),
        ]);
        expect(`${stdout}${stderr}`).not.toMatch(CONTROLS);
        expect(`${stdout}${stderr}`.length).toBeLessThan(10_000);
        expect(stderr).not.toInclude("    at ");
        expect(code).toBeGreaterThan(0);
      }),
    );
  },
  120_000,
);

test("a name of the ledger is shown with what is unseen in it as code points", async () => {
  const args = [
    "merchant",
    "register",
    "--service",
    `${server.url.origin}/named`,
    "--trust",
    TRUST,
  ];
  const { code, stderr } = await run([...args, ...NAMES, "--key", key]);
  expect(code).toBe(1);
  expect(stderr.split("\n")).toHaveLength(2);
  expect(stderr).toInclude('as "x[U+001B][2J[U+001B]]0;title[U+0007][U+009B]31m[U+202E]');
});
