import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { tmpdir } from "../temporary-root.ts";

const HELP = `Deploys to a real node with a new mint, initialises, tells the demo, and deploys again, which must find everything done.

usage: bun run test:cluster --rpc URL --payer FILE

  --rpc URL     a node of a cluster that may be used for tests   (SOLANA_RPC_URL)
  --payer FILE  the key that pays, some 0.4 SOL, made where there is none; the cluster's faucet is asked for what it lacks
  --help        this text

Without a node it prints that it is skipped, and why, and ends with 0.
`;

const DEPLOY = fileURLToPath(new URL("../../app/commands/deploy.ts", import.meta.url));

const { values } = parseArgs({
  options: {
    rpc: { type: "string" },
    payer: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
const rpc = values.rpc ?? process.env["SOLANA_RPC_URL"]?.split(",")[0];
if (rpc === undefined || rpc === "") {
  process.stdout.write(
    "skipped: no real node is at hand, so nothing was tested; give --rpc URL or set SOLANA_RPC_URL\n",
  );
  process.exit(0);
}
const { payer } = values;
if (payer === undefined) {
  process.stderr.write("--payer is missing: name the file of the key that pays\n");
  process.exit(64);
}

// Keys and settings of a test stand in a folder of its own. The programs stay on the cluster; the payer may close them.
const folder = await mkdtemp(join(tmpdir(), "test-cluster-"));

/** Runs the deployment and returns its output, which is also shown. Ends this process when it fails. */
const deploy = async (...more: ReadonlyArray<string>): Promise<string> => {
  const child = Bun.spawn(
    [
      process.execPath,
      DEPLOY,
      `--rpc=${rpc}`,
      `--payer=${payer}`,
      "--new-payer",
      "--airdrop",
      "--new-mint",
      "--yes",
      `--keys=${join(folder, "keys")}`,
      `--env-file=${join(folder, ".env")}`,
      ...more,
    ],
    { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  );
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of child.stdout) {
    process.stdout.write(chunk);
    said += decoder.decode(chunk, { stream: true });
  }
  const code = await child.exited;
  if (code !== 0) throw new Error(`the deployment ended with ${code}`);
  return said;
};

const expectSaid = (said: string, what: string): void => {
  if (!said.includes(what)) throw new Error(`the deployment did not say "${what}"`);
};

let failed: string | undefined;
try {
  const startedMs = performance.now();
  expectSaid(await deploy("--demo"), "was refunded.");
  const seconds = Math.round((performance.now() - startedMs) / 1000);
  const again = await deploy();
  expectSaid(again, "nothing is left to deploy");
  expectSaid(again, "spent 0 lamports");
  process.stdout.write(`\npassed: deployed, initialised and demonstrated in ${seconds} s\n`);
} catch (cause) {
  failed = cause instanceof Error ? cause.message : String(cause);
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (failed !== undefined) {
  process.stderr.write(`\nfailed: ${failed}\n`);
  process.exit(1);
}
