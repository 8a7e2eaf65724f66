import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as attestor } from "../../../app/commands/attestor.ts";
import { main as demo } from "../../../app/commands/demo.ts";
import { main as doctor } from "../../../app/commands/doctor.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { createKeyFile } from "../../../client/node/key-file.ts";
import { exchangeOf, RULES } from "../../client/merchant/attestor/rules-fixture.ts";
import { TEST_DEPLOYMENT } from "../../arbitraries/test-ledger.ts";
import { quietEnvironment, temporaryDirectory } from "../support/running-service.ts";
import { runHere } from "../support/run-here.ts";
import { runScript } from "../support/run-script.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";

const at = (path: string): string => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

const url = SILENT_ADDRESS;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let key: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
  key = join(directory.path, "key.json");
  await createKeyFile(key);
});
afterAll(() => directory.remove());

const run = (
  script: string,
  args: ReadonlyArray<string>,
  { env = {} }: { readonly env?: Record<string, string> } = {},
) =>
  runScript(at(`${script}.ts`), args, {
    cwd: directory.path,
    env: { PATH: process.env["PATH"] ?? "", XDG_STATE_HOME: directory.path, ...env },
  });

test.concurrent("demo ends with 69 when the service does not answer", async () => {
  const told = await runHere((io) => runCommand(demo, ["--service", url], io));
  expect([told.code, told.stderr]).toEqual([
    69,
    `\nThe demo failed: No service answers at ${url}. Start one there, or give its --service.\n`,
  ]);
});

test.concurrent("a paid demo ends with 69 when the node does not answer", async () => {
  const args = ["--service", url, "--payer-key", key, "--rpc", url];
  const told = await runHere((io) => runCommand(demo, args, io));
  expect([told.code, told.stderr]).toEqual([69, expect.stringContaining("no node answers at")]);
});

test.concurrent("deploy ends with 69 when the node does not answer", async () => {
  const args = ["--rpc", url, "--payer-key", key, "--new-mint", "--yes"];
  const told = await run("app/commands/deploy", args);
  expect([told.code, told.stderr]).toEqual([69, expect.stringContaining("no node answers at")]);
});

const diagnosed = (env: Record<string, string>) =>
  runHere((io) => runCommand(doctor, [], io), { env });

const remote = {
  SOLANA_CLUSTER: "localnet",
  CUSTODY_PROGRAM_ID: TEST_DEPLOYMENT.custodyProgram,
  ATTESTOR_PROGRAM_ID: TEST_DEPLOYMENT.attestorProgram,
};

test.concurrent("doctor ends with 69 when it is only that no node answers, and with 1 when something else is wrong too", async () => {
  const env = { ...quietEnvironment(directory.path), ...remote, SOLANA_RPC_URL: url };
  const [silent, taken] = await Promise.all([
    diagnosed(env),
    diagnosed({ ...env, HOST: "192.0.2.1", PORT: "4321" }),
  ]);
  const problems = (stdout: string) =>
    stdout.split("\n").flatMap((line) => /^problem +(\w+)/.exec(line)?.[1] ?? []);
  expect([silent.code, problems(silent.stdout)]).toEqual([69, ["node", "signals"]]);
  expect([taken.code, problems(taken.stdout)]).toEqual([1, ["port", "node", "signals"]]);
});

test.concurrent("doctor ends with 69 when it is only that the database does not answer", async () => {
  const { port } = new URL(url);
  const env = {
    ...quietEnvironment(directory.path),
    DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none`,
  };
  const told = await diagnosed(env);
  expect([told.code, told.stdout]).toEqual([69, expect.stringMatching(/^problem +store /m)]);
});

test.concurrent("attestor ends with 69 when every failure is that the service does not answer", async () => {
  const rules = join(directory.path, "rules.json");
  await Bun.write(rules, JSON.stringify(RULES));
  const trust = at("test/vectors/evidence/trust.json");
  const stdin = JSON.stringify(exchangeOf(localKey("agent/trader").address, "n"));
  const args = ["--rules", rules, "--service", url, "--trust", trust, "--key", key];
  const told = await runHere((io) => runCommand(attestor, args, io), {
    env: { XDG_STATE_HOME: directory.path },
    stdin,
  });
  expect(JSON.parse(told.stdout)).toMatchObject({ decision: "failed", attestation: null });
  expect(told.code).toBe(69);
});
