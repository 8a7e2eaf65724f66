import { mkdtemp, rm, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { EX_USAGE, exitWith, readCommandLine } from "../../app/command-line/command-line.ts";
import { clusterRpc } from "../../app/deploy/cluster/cluster-rpc.ts";
import { readDeployKey } from "../../app/deploy/inputs/deploy-keys.ts";
import { TOKEN_ACCOUNT_LENGTH } from "../../core/protocol/accounts/token.ts";
import { ESCROW_ACCOUNT_LENGTH } from "../../core/protocol/accounts/escrow-account.ts";
import { requireFunds } from "../../app/deploy/cluster/require-funds.ts";
import { spawnLedger } from "../adapters/local-ledger/ledger-process.ts";
import { SCENARIOS } from "../hostile-node/scenarios.ts";
import { tmpdir } from "../temporary-root.ts";
import { clusterEscrows } from "./cluster-escrows.ts";
import { clusterLedger } from "./cluster-ledger.ts";
import { deployTwice } from "./deploy-runs.ts";
import { endureOnCluster } from "./endure-cluster.ts";
import type { Scenario } from "../hostile-node/scenario.ts";
import { tmpdir as systemFolder } from "node:os";
import { fileURLToPath } from "node:url";
import { bytesToHex } from "@noble/hashes/utils.js";
import { sha256 } from "../../core/domain/sha256.ts";
import { runSeed } from "../arbitraries/seeded-random.ts";

const PACKAGE = "surfpool-sdk-linux-x64-gnu";
const VERSION = "1.2.0";
/** SHA-256 of the addon in that package. */
const SHA256 = "73eb9439d255727b114fcaf345c32c43063459f3953881db587acdd265cce64d";
const PROCESS = fileURLToPath(new URL("surfpool-process.ts", import.meta.url));

/**
 * The path of Surfpool's addon, fetched by npm's registry unless an earlier run has left it in the system's temporary
 * folder.
 */
const addon = async (): Promise<string> => {
  if (process.platform !== "linux" || process.arch !== "x64")
    throw new Error(`--surfpool: ${PACKAGE} runs on Linux on x64 only`);
  const folder = join(systemFolder(), `${PACKAGE}-${VERSION}`);
  const file = join(folder, "node_modules", PACKAGE, "surfpool-sdk.linux-x64-gnu.node");
  if (!(await Bun.file(file).exists())) {
    await mkdir(folder, { recursive: true });
    await Bun.write(join(folder, "package.json"), "{}");
    const add = [process.execPath, "add", "--exact", "--ignore-scripts", `${PACKAGE}@${VERSION}`];
    const { exitCode, stderr } = Bun.spawnSync(add, { cwd: folder, stdin: "ignore" });
    if (exitCode !== 0)
      throw new Error(`--surfpool: ${PACKAGE} cannot be fetched: ${stderr.toString().trim()}`);
  }
  const found = bytesToHex(sha256(new Uint8Array(await readFile(file))));
  if (found !== SHA256)
    throw new Error(`--surfpool: ${file} is another file, sha256 ${found}; remove it`);
  return file;
};

/** Surfpool in a process of its own, with an empty ledger that nobody else uses. */
const startSurfpool = async () => {
  const child = Bun.spawn([process.execPath, PROCESS, await addon()], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const rpcUrl = new TextDecoder().decode(value).trim();
  if (!rpcUrl.startsWith("http")) throw new Error("--surfpool: it does not start");
  return {
    rpcUrl,
    stop: async (): Promise<void> => {
      child.kill();
      await child.exited;
    },
  };
};

/** Why a scenario cannot be played before a node of another's making; undefined when it can. */
const whySkipped = (scenario: Scenario): string | undefined => {
  if (scenario.prepare !== undefined)
    return "it changes the ledger before the first request, which a simulated one alone allows";
  if (scenario.notify !== undefined)
    return "it plays with notifications, and the syncs of this test are asked for";
  if (scenario.name === "recent-statuses-only")
    return "it plays with statuses, which no sync asks for";
  return undefined;
};

const HELP = `Deploys to a node with a new mint, initialises, tells the demo, and deploys again, which must find everything done. Then
a hostile node stands before that node, and an index must survive each of its scenarios while escrows are made and refunded.

usage: bun run test:more cluster [--rpc URL --payer-key FILE | --surfpool] [options]

  --rpc URL        a node of a cluster that may be used for tests   (SOLANA_RPC_URL; else the local ledger, empty, as a process)
  --payer-key FILE the key that pays, some 0.8 SOL, made where there is none; the cluster's faucet is asked for what it lacks
  --surfpool       Surfpool in place of the local ledger; fetched from npm (40 MB) into the temporary folder, Linux on x64 only
  --scenario NAME  plays this scenario alone, also several times    (see bun run test:more hostile --list)
  --seed N         the seed of each scenario; without it, one is drawn and printed
  --help           this text

Ends with 0 when everything passed, 1 when something failed, 64 for a mistake, which one line names. What is skipped says why.
`;

const { values } = readCommandLine(HELP, {
  rpc: { type: "string" },
  "payer-key": { type: "string" },
  surfpool: { type: "boolean", default: false },
  scenario: { type: "string", multiple: true, default: [] },
  seed: { type: "string" },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

const usage = (message: string): never => exitWith(EX_USAGE, `test:more cluster: ${message}`);
const named = values.scenario;
const unknown = named.find((name) => !SCENARIOS.some((one) => one.name === name));
if (unknown !== undefined)
  usage(`--scenario: there is no "${unknown}"; bun run test:more hostile --list names them`);
const seed = runSeed(values.seed);
if (!Number.isSafeInteger(seed) || seed < 0) usage("--seed: expected a whole number");
if (values.surfpool && values.rpc !== undefined) usage("--rpc and --surfpool: give one of the two");
const foreign = values.surfpool
  ? undefined
  : (values.rpc ?? process.env["SOLANA_RPC_URL"]?.split(",")[0]?.trim());
const isForeign = foreign !== undefined && foreign !== "";
if (isForeign && values["payer-key"] === undefined)
  usage("--payer-key is missing: name the file of the key that pays");

// Keys and settings of a test stand in a folder of its own. The programs stay on the cluster; the payer may close them.
const folder = await mkdtemp(join(tmpdir(), "test-cluster-"));
const payer = values["payer-key"] ?? join(folder, "payer.json");

const startNode = async (): Promise<{ rpcUrl: string; stop: () => Promise<void> }> => {
  if (isForeign) return { rpcUrl: foreign, stop: () => Promise.resolve() };
  if (values.surfpool) return startSurfpool();
  say(
    "skipped: no real node is at hand (--rpc URL, SOLANA_RPC_URL or --surfpool); the local ledger stands in for one",
  );
  const { child, ready } = await spawnLedger(join(folder, "ledger"), "--empty");
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await child.exited;
  };
  return { rpcUrl: ready.rpc_url, stop };
};

/** Plays every scenario that the node allows, and returns the names of those that failed. */
const playAll = async (
  rpcUrl: string,
  { deployment, mint }: Awaited<ReturnType<typeof deployTwice>>,
): Promise<ReadonlyArray<string>> => {
  const rpc = clusterRpc(new URL(rpcUrl));
  const genesisHash = await rpc.connect();
  const context = { rpc, payer: await readDeployKey("--payer-key", payer), say, priorityFee: 0n };
  const played = SCENARIOS.filter(({ name }) => named.length === 0 || named.includes(name));
  const perEscrow =
    (await rpc.rentExempt(ESCROW_ACCOUNT_LENGTH)) + (await rpc.rentExempt(TOKEN_ACCOUNT_LENGTH));
  // Two escrows a scenario, and the room of a third for fees; a merchant.
  await requireFunds(context, BigInt(3 * played.length + 3) * perEscrow, true);
  const ledger = clusterLedger(rpcUrl, deployment);
  const escrows = await clusterEscrows(context, deployment, mint);
  const webSocketUrl = rpcUrl.replace(/^http/, "ws");
  const cluster = { rpcUrl, webSocketUrl, genesisHash, deployment, ledger, escrows };
  say(`\nhostile nodes before ${rpc.shown}, seed ${seed}:`);
  const failed: Array<string> = [];
  for (const scenario of played) {
    const { name } = scenario;
    const reason = whySkipped(scenario);
    if (reason !== undefined) {
      say(`skipped ${name}: ${reason}`);
      continue;
    }
    const startedMs = performance.now();
    try {
      const { completed, requests, events } = await endureOnCluster(cluster, scenario, seed);
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1);
      say(
        `passed  ${name}, seed ${seed}: ${completed} of 3 syncs, ${requests} requests, ${events} events, ${seconds} s`,
      );
    } catch (cause) {
      failed.push(name);
      say(`failed  ${cause instanceof Error ? cause.message : String(cause)}`);
    }
  }
  return failed;
};

let failure: string | undefined;
let node: Awaited<ReturnType<typeof startNode>> | undefined;
try {
  node = await startNode();
  const deployed = await deployTwice(node.rpcUrl, payer, folder);
  say(`\npassed: deployed, initialised and demonstrated in ${deployed.seconds} s`);
  const failed = await playAll(node.rpcUrl, deployed);
  if (failed.length > 0) failure = `${failed.join(", ")} with seed ${seed}`;
} catch (cause) {
  failure = cause instanceof Error ? cause.message : String(cause);
} finally {
  await node?.stop();
  await rm(folder, { recursive: true, force: true });
}
if (failure !== undefined) exitWith(1, `\nfailed: ${failure}`);
