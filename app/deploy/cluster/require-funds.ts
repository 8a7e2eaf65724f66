import { address, type Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { DeployContext } from "../deploy-context.ts";
import { solText } from "../deploy-cost.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { type ClusterRpc, RpcRefused } from "./cluster-rpc.ts";

/** The versions of the programs' bytecode that this repository has binaries of. */
export const SBPF_VERSIONS = ["v3", "v0"] as const;

/** One of them. */
export type SbpfVersion = (typeof SBPF_VERSIONS)[number];

const FEATURE_PROGRAM = address("Feature111111111111111111111111111111111111");

/** The loader takes SBPF v3 (Agave `feature-set/src/lib.rs`: enable_sbpf_v3_deployment_and_execution). */
const ENABLE_V3: Address = address("5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC");
/** The loader refuses to deploy older versions (Agave: disable_sbpf_v0_v1_v2_deployment, SIMD-0500). */
const DISABLE_V0: Address = address("B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g");

/**
 * Whether an account says that its feature is active: tag 1, then the slot, u64 LE (Agave `feature-gate-interface`).
 */
const isActive = (account: LedgerAccount | null | undefined): boolean =>
  account?.owner === FEATURE_PROGRAM && account.data[0] === 1;

/**
 * The versions that the cluster's gates let its loader take, the newest first. @throws DeployStopped where it takes
 * none.
 */
export const deployableVersions = async (
  rpc: Pick<ClusterRpc, "accounts">,
  wanted: SbpfVersion | undefined,
): Promise<ReadonlyArray<SbpfVersion>> => {
  const [v3, noV0] = await rpc.accounts([ENABLE_V3, DISABLE_V0]);
  const taken = SBPF_VERSIONS.filter((version) =>
    version === "v3" ? isActive(v3) : !isActive(noV0),
  );
  if (taken.length === 0)
    throw new DeployStopped(
      1,
      `the cluster takes neither SBPF v3 (feature ${ENABLE_V3} is not active) nor v0 (feature ${DISABLE_V0} is); use another cluster, or wait until the first is active`,
    );
  if (wanted === undefined) return taken;
  if (taken.includes(wanted)) return [wanted];
  throw new DeployStopped(
    1,
    `--sbpf: the cluster does not take ${wanted} (${wanted === "v3" ? `feature ${ENABLE_V3} is not active` : `feature ${DISABLE_V0} is active`}); use --sbpf ${taken.join(" or ")}, or leave it out`,
  );
};

/** The most that faucets give at once: a devnet node's limit, in lamports. */
const MAX_AIRDROP = 2_000_000_000n;
const POLL_MS = 200;
/** A faucet's transaction lands within this time or never. */
const WAIT_MS = 60_000;

const askFaucet = async ({ rpc, payer }: DeployContext, missing: bigint): Promise<void> => {
  const before = await rpc.balance(payer.address);
  try {
    await rpc.airdrop(payer.address, missing < MAX_AIRDROP ? missing : MAX_AIRDROP);
  } catch (cause) {
    if (!(cause instanceof RpcRefused)) throw cause;
    throw new DeployStopped(
      1,
      `--airdrop: ${rpc.shown} gives nothing (${cause.reason}); send ${solText(missing)} SOL to ${payer.address} and run the command again`,
    );
  }
  const deadline = performance.now() + WAIT_MS;
  while ((await rpc.balance(payer.address)) <= before) {
    if (performance.now() > deadline)
      throw new DeployStopped(
        1,
        `--airdrop: nothing has come within ${WAIT_MS / 1000} s; send ${solText(missing)} SOL to ${payer.address} and run the command again`,
      );
    await Bun.sleep(POLL_MS);
  }
};

/**
 * Checks that the payer has these lamports, and asks the cluster's faucet where that is wanted; `airdrop` is null for a
 * command that has no such option. @throws DeployStopped that says how much is missing.
 */
export const requireFunds = async (
  context: DeployContext,
  needed: bigint,
  airdrop: boolean | null,
): Promise<void> => {
  const { rpc, payer, say } = context;
  for (;;) {
    const balance = await rpc.balance(payer.address);
    const missing = needed - balance;
    if (missing <= 0n) return;
    if (airdrop !== true) {
      const faucet = airdrop === null ? "" : ", or add --airdrop where the cluster has a faucet";
      throw new DeployStopped(
        1,
        `--payer-key: ${payer.address} has ${balance} lamports and needs ${needed}; ${missing} lamports (${solText(missing)} SOL) are missing: send them there${faucet}`,
      );
    }
    say(`asking the faucet for ${solText(missing)} SOL`);
    await askFaucet(context, missing);
  }
};
