import type {
  ProgramStatus,
  ServiceStatus,
  StaleIndex,
} from "../../../core/use-cases/service/read-status.ts";
import type { SyncError } from "../../../core/use-cases/index/sync-failure.ts";
import { CODE_OF_FAILURE } from "../problems/api-failure.ts";
import type { ProblemCode } from "../problems/problem-catalogue.ts";
import type { ServiceStatusRecord } from "../schemas/status.ts";

const programRecord = (
  program: ProgramStatus,
): ServiceStatusRecord["programs"][keyof ServiceStatusRecord["programs"]] => ({
  address: program.address,
  deployed: program.deployed,
  executable: program.executable,
  upgrade_authority: program.upgradeAuthority,
  sha256: program.sha256,
});

/** The problem code of what ended work on the index, null where nothing did. */
const syncErrorCode = (error: SyncError | null): ProblemCode | null => {
  if (error === null) return null;
  return error === "InternalError" ? "internal_error" : CODE_OF_FAILURE[error];
};

const indexerRecord = (index: ServiceStatus["index"]): ServiceStatusRecord["indexer"] => {
  const { mark = null, lastError = null, snapshotError = null } = index ?? {};
  const isWell = index !== null && lastError === null && snapshotError === null;
  return {
    status: isWell ? "online" : "degraded",
    last_synced_slot: mark === null ? null : Number(mark.slot),
    last_synced_at: mark === null ? null : new Date(mark.atMs).toISOString(),
    lag_slots: index === null || index.lagSlots === null ? null : Number(index.lagSlots),
    escrows: index?.escrows ?? null,
    events: index?.events ?? null,
    merchants: index?.merchants ?? null,
    running: index?.running ?? null,
    progress: index?.progress ?? null,
    last_error: syncErrorCode(lastError),
    snapshot_error: syncErrorCode(snapshotError),
  };
};

/** What `GET /ready` says of an index that is stale. */
export const staleIndex = ({ lagSlots, lastError, snapshotError }: StaleIndex) => ({
  status: "stale" as const,
  lag_slots: Number(lagSlots),
  last_error: syncErrorCode(lastError),
  snapshot_error: syncErrorCode(snapshotError),
});

/** The service's status as JSON. */
export const statusRecord = (status: ServiceStatus, version: string): ServiceStatusRecord => {
  const { network, custody, attestor } = status;
  const reads = network.healthy ? "online" : "degraded";
  const callable = custody.executable === true && attestor.executable === true;
  return {
    status: status.status,
    version,
    network: {
      cluster: network.cluster,
      rpc_address: network.address,
      genesis_hash: network.genesisHash,
      slot: network.slot === null ? null : Number(network.slot),
      latency_ms: network.latencyMs,
      healthy: network.healthy,
    },
    programs: { custody: programRecord(custody), attestor: programRecord(attestor) },
    relay: { status: callable ? reads : "degraded" },
    reads: { status: reads, commitment: "confirmed" },
    indexer: indexerRecord(status.index),
  };
};
