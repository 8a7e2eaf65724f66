import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { main } from "../../client/command-line/main.ts";
import { temporaryDirectory } from "../app/support/running-service.ts";
import { runHere } from "../app/support/run-here.ts";
import { SILENT_ADDRESS } from "../app/support/silent-address.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const TRUST = at("test/vectors/evidence/trust.json");
const SOME = localKey("merchant/forecast").address as string;

const url = SILENT_ADDRESS;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
  expect((await run("keygen", "key.json")).code).toBe(0);
  await Bun.write(join(directory.path, "payload.json"), "{}");
});
afterAll(() => directory.remove());

/** Runs the command; a bare file's name is of one in the directory. */
const run = (...args: ReadonlyArray<string>) => {
  const given = args.map((arg) => (/^\w+\.json$/.test(arg) ? join(directory.path, arg) : arg));
  return runHere((io) => main(given, io), { env: { XDG_STATE_HOME: directory.path } });
};

const pays = ["--merchant", SOME, "--amount", "1", "--task", "a", "--ttl", "60", "--nonce", "n"];
const claims = [SOME, "--template", "api-delivered-v1", "--payload", "payload.json"];

const KEY = ["--key", "key.json"];

test.concurrent.each([
  ["pay", [...pays, ...KEY]],
  ["watch", [SOME, "--out", "packet.json"]],
  ["refund", [SOME, ...KEY]],
  ["attest", [...claims, ...KEY]],
  ["merchant register", ["--attestor", SOME, "--name", "n", ...KEY]],
  ["merchant rotate", ["--attestor", SOME, ...KEY]],
  ["merchant cancel", [SOME, ...KEY]],
  ["merchant watch", ["--merchant", SOME]],
  ["merchant export", ["--merchant", SOME]],
] as const)(
  "%s takes --service, --trust and --key, and ends with 69 and one line when the service does not answer",
  async (command, args) => {
    const told = await run(...command.split(" "), ...args, "--service", url, "--trust", TRUST);
    expect(told).toEqual({
      code: 69,
      stdout: "",
      stderr: expect.stringMatching(/^The service did not answer \/\S+ in 6 tries\. .*\n$/),
    });
  },
);

test.concurrent("doctor ends with 69 when it is only that the service does not answer, and with 1 when something else is wrong too", async () => {
  const [silent, both] = await Promise.all([
    run("doctor", "--service", url, "--trust", TRUST, "--key", "key.json"),
    run("doctor", "--service", url, "--trust", TRUST, "--key", "payload.json"),
  ]);
  const problems = (stdout: string) =>
    stdout.split("\n").flatMap((line) => /^PROBLEM +(\w+)/.exec(line)?.[1] ?? []);
  expect([silent.code, problems(silent.stdout)]).toEqual([69, ["service"]]);
  expect([both.code, problems(both.stdout)]).toEqual([1, ["service", "key"]]);
});
