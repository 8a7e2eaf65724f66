import { address, type Address } from "../../../core/domain/address.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import type { ClusterRpc } from "./cluster-rpc.ts";
import { DeployStopped } from "../deploy-stopped.ts";

/** The versions of the programs' bytecode that this repository has binaries of. */
export const SBPF_VERSIONS = ["v3", "v0"] as const;

/** One of them. */
export type SbpfVersion = (typeof SBPF_VERSIONS)[number];

const FEATURE_PROGRAM = address("Feature111111111111111111111111111111111111");

/** The loader takes SBPF v3 (Agave `feature-set/src/lib.rs`: enable_sbpf_v3_deployment_and_execution). */
export const ENABLE_V3: Address = address("5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC");
/** The loader refuses to deploy older versions (Agave: disable_sbpf_v0_v1_v2_deployment, SIMD-0500). */
export const DISABLE_V0: Address = address("B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g");

/** Whether an account says that its feature is active: tag 1, then the slot, u64 LE (Agave `feature-gate-interface`). */
const isActive = (account: LedgerAccount | null | undefined): boolean =>
  account?.owner === FEATURE_PROGRAM && account.data[0] === 1;

/** The versions that the cluster's gates let its loader take, the newest first. @throws DeployStopped where it takes none. */
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
