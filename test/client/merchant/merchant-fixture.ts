import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chmod } from "node:fs/promises";
import { type LocalKey, localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { main } from "../../../client/command-line/main.ts";
import { connect } from "../../../client/connect.ts";
import { keySigner, keyText } from "../../../client/node/key-file.ts";
import { runHere } from "../../app/support/run-here.ts";
import { withDemoLedger } from "../../app/support/demo-ledger.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  untilReady,
} from "../../app/support/running-service.ts";

const COMMAND = fileURLToPath(
  new URL("../../../client/bin/settlement-evidence.ts", import.meta.url),
);

/** How a command ended, and all it printed. */
export type Ran = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** A service on a ledger with the demo data, its trust document in a file, and the commands as a merchant runs them. */
export const merchantFixture = async () => {
  const directory = await temporaryDirectory();
  const service = await runService(
    quietEnvironment(withDemoLedger(join(directory.path, "service"))),
  );
  await untilReady(service.url);
  const trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  const file = async (name: string, text: string, mode = 0o600): Promise<string> => {
    const path = join(directory.path, name);
    await Bun.write(path, text);
    await chmod(path, mode);
    return path;
  };
  const trustFile = await file("trust.json", trust);
  const there = ["--service", service.url, "--trust", trustFile];
  const env = {
    PATH: process.env["PATH"] ?? "",
    XDG_STATE_HOME: join(directory.path, "state"),
    BUN_JSC_useDFGJIT: "0",
  };
  const start = (args: ReadonlyArray<string>, stdin = "") =>
    Bun.spawn([process.execPath, COMMAND, ...args], {
      cwd: directory.path,
      env,
      stdin: new Blob([stdin]),
      stdout: "pipe",
      stderr: "pipe",
    });
  const runApart = async (args: ReadonlyArray<string>, stdin?: string): Promise<Ran> => {
    const child = start(args, stdin);
    const [code, stdout, stderr] = await Promise.all([
      child.exited,
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code, stdout, stderr };
  };
  const run = (args: ReadonlyArray<string>, stdin = ""): Promise<Ran> =>
    runHere((io) => main(args, io), { env, stdin });
  const agent = connect(service.url, { trust });
  const payments = { made: 0 };
  return {
    service,
    directory,
    trust,
    /** `--service` and `--trust` of the service. */
    there,
    file,
    start,
    run,
    /** As `run`, in a process of its own. */
    runApart,
    /** A file with a local key. */
    keyFile: (key: LocalKey) => file(`${key.address}.json`, keyText(key.seed)),
    /** An agent's new escrow of 1.00 for a merchant. */
    pay: async (merchant: LocalKey, task = "GET https://api.example.com/v1/forecast") =>
      agent.pay({
        merchant: merchant.address,
        amount: "1.00",
        task,
        ttl: 3600,
        nonce: `test-${payments.made++}`,
        signer: keySigner(localKey("agent/planner").seed),
      }),
    stateOf: async (escrow: string): Promise<string> => {
      const answer = await fetch(`${service.url}/v1/escrows/${escrow}`);
      return ((await answer.json()) as { data: { state: string } }).data.state;
    },
    taskHashOf: async (escrow: string): Promise<string> => {
      const answer = await fetch(`${service.url}/v1/escrows/${escrow}`);
      return ((await answer.json()) as { data: { task_hash: string } }).data.task_hash;
    },
    stop: async () => {
      await service.stop();
      await directory.remove();
    },
  };
};

/** A payload of `api-delivered-v1` for a task. */
export const delivered = (taskHash: string, content = "ab") => ({
  proof_template_id: "api-delivered-v1",
  task_hash: taskHash,
  request_url: "https://api.example.com/v1/forecast",
  status_code: 200,
  content_sha256: content.repeat(32),
  delivered_at: "2026-11-22T08:00:00Z",
});
