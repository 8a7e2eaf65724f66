import { Layer, Redacted } from "effect";
import { fileURLToPath } from "node:url";
import { redactedRpcAddress } from "../../adapters/solana-rpc/transport/rpc-failure.ts";
import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import packageJson from "../../package.json";
import { Instance } from "../../ports/instance.ts";
import type { Cluster } from "../config/cluster.ts";
import type { RpcUrls, Settings } from "../config/settings.ts";
import { USDC_MINTS } from "../config/supported-mints.ts";
import type { StoreName } from "../stores/stores-of-ledger.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The commit that the service was started from, 40 hex digits. Null without git, and when the folder is not a
 * repository's own root, such as an unpacked archive inside another project.
 */
export const sourceRevision = (): string | null => {
  try {
    // The service's user need not own the clone whose code it runs anyhow.
    const trusted = ["-c", `safe.directory=${ROOT.replace(/\/$/, "")}`];
    const { stdout, success } = Bun.spawnSync(
      ["git", ...trusted, "rev-parse", "--show-prefix", "HEAD"],
      { cwd: ROOT, stderr: "ignore", timeout: 2000 },
    );
    return success ? (/^\n([0-9a-f]{40})\n$/.exec(stdout.toString())?.[1] ?? null) : null;
  } catch {
    return null;
  }
};

/** The settings of one instance, and the facts that its start has found. */
export type StartedInstance = {
  readonly settings: Settings;
  /** Absolute. */
  readonly dataDir: string;
  readonly rpcUrls: RpcUrls;
  /** Where the ledger announces changes. It may hold an API key. */
  readonly webSocketUrl: Redacted.Redacted<URL>;
  readonly startedAtMs: number;
};

/** How long `confirm` waits on the relay. Most blockhashes expire after a minute. */
const CONFIRM_TIMEOUT_MS = 30_000;

/** The programs of the ledger that is configured. */
export const deploymentOf = ({ ledger }: Pick<Settings, "ledger">): Deployment =>
  ledger.kind === "remote" ? ledger.deployment : LOCAL_DEPLOYMENT;

/** The programs whose transactions change the index. */
export const programsOf = (settings: Settings): ReadonlyArray<Address> => {
  const { custodyProgram, attestorProgram } = deploymentOf(settings);
  return [custodyProgram, attestorProgram];
};

/** The cluster that is configured; the embedded ledger is a localnet. */
export const clusterOf = ({ ledger }: Pick<Settings, "ledger">): Cluster =>
  ledger.kind === "remote" ? ledger.cluster : "localnet";

/** The file of a store in the data directory. */
export const storePath = (dataDir: string, store: StoreName): string =>
  `${dataDir}/${store}.sqlite`;

/** The file in the data directory of the evidence packets that were served. */
export const packetsPath = (dataDir: string): string => `${dataDir}/packets.sqlite`;

/** The file in the data directory of the operator's webhooks. */
export const webhooksPath = (dataDir: string): string => `${dataDir}/webhooks.sqlite`;

/** The file in the data directory of what an unfinished first snapshot has fetched; of several workers each has one. */
export const snapshotPath = (dataDir: string): string => `${dataDir}/snapshot.spool`;

/** The file in the data directory of how far the search for old events' transactions has come. */
export const backfillPath = (dataDir: string): string => `${dataDir}/backfill.json`;

/** The folder of the log's full tiles in the data directory. */
export const logFolder = (dataDir: string): string => `${dataDir}/log`;

/** What the use cases know of the instance. `revision` is the commit that it runs, null where nobody asks for it. */
export const instanceLayer = (
  started: StartedInstance,
  revision: string | null,
): Layer.Layer<Instance> =>
  Layer.sync(Instance, () => {
    const { settings, rpcUrls, startedAtMs } = started;
    return Instance.of({
      deployment: deploymentOf(settings),
      programPins: settings.programPins,
      cluster: clusterOf(settings),
      runsLedger: settings.ledger.kind === "embedded",
      networkAddress: redactedRpcAddress(Redacted.value(rpcUrls[0])),
      supportedMints: settings.supportedMints ?? USDC_MINTS[clusterOf(settings)],
      enforceBetaLimits: settings.enforceBetaLimits,
      version: packageJson.version,
      revision,
      startedAtMs,
      syncsByItself: settings.syncIntervalSeconds > 0,
      confirmTimeoutMs: CONFIRM_TIMEOUT_MS,
    });
  });
