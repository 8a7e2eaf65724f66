import { type Static, Type } from "@sinclair/typebox";
import { PROGRAM_HASHES } from "../../../core/protocol/generated/program-hashes.ts";
import type {
  ProgramName,
  ProgramStatus as Program,
} from "../../../core/use-cases/service/program-status.ts";
import type {
  HistoryHead,
  IndexContradiction,
} from "../../../core/domain/index/index-contradiction.ts";
import type { ServiceStatus as Status } from "../../../core/use-cases/service/read-status.ts";
import type { SyncError } from "../../../core/use-cases/index/sync/sync-failure.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  Address,
  Commitment,
  Count,
  Hash,
  nullable,
  oneOf,
  record,
  Slot,
  SupportedMint,
  Time,
} from "../openapi/values.ts";
import { CODE_OF_FAILURE } from "../problems/api-failure.ts";
import type { ProblemCode } from "../problems/problem-catalogue.ts";
import { sampleInstance } from "../openapi/sample-instance.ts";
import { SAMPLE, sampleParties } from "../openapi/sample-values.ts";
import { LEDGER_STANDINGS } from "../../../ports/ledger/ledger-record.ts";
import { logRecord, logStatusExample, SettlementLogStatus } from "./log-status-contract.ts";

const State = oneOf(
  ["online", "degraded"],
  "`degraded` when a dependency does not work or is not known to work.",
);

const ProgramStatus = record("ProgramStatus", "What the ledger shows of one program.", {
  address: Address("The program."),
  deployed: nullable(Type.Boolean()),
  executable: nullable(Type.Boolean()),
  upgrade_authority: nullable(Address("Who can change the program."), {
    description: "Null: nobody can change it, or not known.",
  }),
  sha256: nullable(Hash("Of the deployed ELF, without the zero bytes at its end.")),
  sbpf_version: nullable(Count("The bytecode's version, as the ELF says it: 0 or 3 for ours."), {
    description: "Null: no ELF, or not known.",
  }),
  is_ours: nullable(
    Type.Boolean({
      description: "Whether it is the binary of that version that comes with this service.",
    }),
    { description: "Null: not known." },
  ),
  initialised: nullable(
    Type.Boolean({
      description:
        "Whether its own account, custody's config or the registry, exists and names the other program.",
    }),
    { description: "Null: not known." },
  ),
});

const HistoryHeadRecord = record("HistoryHead", "A state of the custody program's history.", {
  count: Type.String({ description: "Events, as decimal digits." }),
  head: Hash("The chain over their leaves."),
});

const IndexContradictionRecord = record(
  "IndexContradiction",
  "What the ledger shows and the index, which stays as it is, contradicts. Another history replaces it once two nodes show it or the operator approves it.",
  {
    kind: oneOf(
      ["another_history", "earlier_state"],
      "`earlier_state`: the ledger's history is the beginning of the index's, or empty.",
    ),
    index: HistoryHeadRecord,
    ledger: HistoryHeadRecord,
    first_difference: nullable(
      record("EventRange", "The numbers among which the first differing event is.", {
        from: Type.String({ description: "The first of them, as decimal digits." }),
        to: Type.String({ description: "The last of them, as decimal digits." }),
      }),
      { description: "Null for an earlier state." },
    ),
  },
);

/** The state of the service and of what it depends on. */
export const ServiceStatus = record(
  "ServiceStatus",
  "The state of the service. A null value could not be read in time.",
  {
    status: State,
    version: Type.String(),
    network: record("NetworkStatus", "The ledger.", {
      cluster: Type.String(),
      rpc_address: Type.String({ description: "Without credentials, path or query." }),
      genesis_hash: nullable(
        Type.String({
          description: "As a node shows it; while none does, as the store has recorded it.",
        }),
      ),
      identity: oneOf(
        LEDGER_STANDINGS,
        "How the nodes stand to that ledger. `unknown`: no genesis hash is known. `recorded`: the store's counts, and no node has answered since the start. `confirmed`: a node has shown it. `contradicted`: the nodes that answer serve another ledger and are not used.",
      ),
      slot: nullable(Slot()),
      latency_ms: nullable(Type.Number({ minimum: 0 })),
      healthy: Type.Boolean(),
    }),
    programs: record("ProgramStatuses", "Both programs.", {
      custody: ProgramStatus,
      attestor: ProgramStatus,
    }),
    settlement_mint: nullable(Address("Deliveries in this mint count towards reputation."), {
      description: "Null: not known.",
    }),
    supported_mints: Type.Array(SupportedMint, {
      description: "The mints whose amounts this service shows as money.",
    }),
    relay: record("RelayStatus", "The relay.", { status: State }),
    reads: record("ReadsStatus", "Live reads.", { status: State, commitment: Commitment }),
    indexer: record("IndexerStatus", "The index.", {
      status: State,
      last_synced_slot: nullable(Slot()),
      last_synced_at: nullable(Time("By the service's clock.")),
      last_snapshot_at: nullable(
        Time(
          "When the last snapshot was complete: the build of the index, or a scan of all merchants. By the clock of the service that took it.",
        ),
      ),
      lag_slots: nullable(Count("Slots behind the ledger.")),
      escrows: nullable(Count("Rows.")),
      unseen: nullable(Count("Archived escrows of which nobody has shown the bytes.")),
      count: nullable(Count("The number of the last event that the index holds.")),
      head: nullable(Hash("The chain over the leaves of the events up to it.")),
      merchants: nullable(Count("Rows.")),
      running: nullable(Type.Boolean({ description: "Whether a sync runs now." })),
      progress: nullable(
        record("SyncProgress", "How far the running sync has come.", {
          phase: oneOf(["accounts", "transactions"], "What it reads."),
          done: Count("Read so far."),
          total: nullable(Count("The expected total.")),
        }),
        { description: "Null while none runs." },
      ),
      contradiction: nullable(IndexContradictionRecord, {
        description: "Null: nothing contradicts the index, as far as scans have shown.",
      }),
      history: nullable(
        oneOf(
          ["followed", "not_served"],
          "`not_served`: no node keeps transaction history. Scans then keep the index up: events within a minute, merchants too, and events have no `signature`.",
        ),
        { description: "Null: not known." },
      ),
      last_error: nullable(Type.String({ description: "Problem code of the last failed sync." })),
      snapshot_error: nullable(
        Type.String({
          description:
            "Problem code of the last snapshot, when it failed. With an earlier snapshot, incremental syncs continue.",
        }),
      ),
    }),
    log: nullable(SettlementLogStatus, {
      description: "Null: no log, or not known.",
    }),
  },
);
/** What `GET /v1/status` answers, as JSON. */
export type ServiceStatusRecord = Static<typeof ServiceStatus>;

const programRecord = (program: Program): Static<typeof ProgramStatus> => ({
  address: program.address,
  deployed: program.deployed,
  executable: program.executable,
  upgrade_authority: program.upgradeAuthority,
  sha256: program.sha256,
  sbpf_version: program.sbpfVersion,
  is_ours: program.isOurs,
  initialised: program.initialised,
});

/** The problem code of the error that ended work on the index, null without an error. */
export const syncErrorCode = (error: SyncError | null): ProblemCode | null => {
  if (error === null) return null;
  return error === "InternalError" ? "internal_error" : CODE_OF_FAILURE[error];
};

const headRecord = ({ count, head }: HistoryHead) => ({ count: count.toString(), head });

const contradictionRecord = (
  found: IndexContradiction | null,
): Static<typeof IndexContradictionRecord> | null =>
  found && {
    kind: found.kind,
    index: headRecord(found.index),
    ledger: headRecord(found.ledger),
    first_difference: found.firstDifference && {
      from: found.firstDifference.from.toString(),
      to: found.firstDifference.to.toString(),
    },
  };

const indexerRecord = (index: Status["index"]): ServiceStatusRecord["indexer"] => {
  const { mark = null, lastError = null, snapshotError = null } = index ?? {};
  const isWell =
    index !== null && lastError === null && snapshotError === null && index.contradiction === null;
  return {
    status: isWell ? "online" : "degraded",
    last_synced_slot: mark === null ? null : Number(mark.slot),
    last_synced_at: mark === null ? null : new Date(mark.atMs).toISOString(),
    last_snapshot_at:
      index === null || index.snapshotAtMs === null
        ? null
        : new Date(index.snapshotAtMs).toISOString(),
    lag_slots: index === null || index.lagSlots === null ? null : Number(index.lagSlots),
    escrows: index?.escrows ?? null,
    unseen: index?.unseen ?? null,
    count: mark === null ? null : Number(mark.count),
    head: mark?.head ?? null,
    merchants: index?.merchants ?? null,
    running: index?.running ?? null,
    progress: index?.progress ?? null,
    contradiction: contradictionRecord(index?.contradiction ?? null),
    history: index === null ? null : index.hasHistory ? "followed" : "not_served",
    last_error: syncErrorCode(lastError),
    snapshot_error: syncErrorCode(snapshotError),
  };
};

/** The service's status as JSON. */
export const statusRecord = (status: Status, version: string): ServiceStatusRecord => {
  const { network, custody, attestor } = status;
  const reads = network.healthy ? "online" : "degraded";
  const callable = [custody, attestor].every(
    ({ executable, initialised }) => executable === true && initialised === true,
  );
  return {
    status: status.status,
    version,
    network: {
      cluster: network.cluster,
      rpc_address: network.address,
      genesis_hash: network.genesisHash,
      identity: network.identity,
      slot: network.slot === null ? null : Number(network.slot),
      latency_ms: network.latencyMs,
      healthy: network.healthy,
    },
    programs: { custody: programRecord(custody), attestor: programRecord(attestor) },
    settlement_mint: status.settlementMint,
    supported_mints: status.supportedMints.map(({ address, decimals, symbol }) => ({
      address,
      decimals,
      symbol,
    })),
    relay: { status: callable ? reads : "degraded" },
    reads: { status: reads, commitment: "confirmed" },
    indexer: indexerRecord(status.index),
    log: status.log && logRecord(status.log),
  };
};

const programExample = (name: ProgramName, address: Program["address"]) => ({
  address,
  deployed: true,
  executable: true,
  upgradeAuthority: sampleParties().agent,
  sha256: PROGRAM_HASHES[name].v3,
  sbpfVersion: 3,
  isOurs: true,
  initialised: true,
});

/** The status of a service whose ledger and index work. */
export const statusExample = () =>
  statusRecord(
    {
      status: "online",
      network: {
        cluster: "localnet",
        address: "http://127.0.0.1:8899",
        genesisHash: SAMPLE.genesisHash,
        identity: "confirmed",
        slot: SAMPLE.slot,
        latencyMs: 1,
        healthy: true,
      },
      custody: programExample("custody", LOCAL_DEPLOYMENT.custodyProgram),
      attestor: programExample("attestor", LOCAL_DEPLOYMENT.attestorProgram),
      settlementMint: sampleParties().mint,
      supportedMints: sampleInstance().supportedMints,
      index: {
        escrows: 4,
        merchants: 2,
        unseen: 0,
        revision: null,
        snapshotAtMs: Number(SAMPLE.createdAt) * 1000,
        mark: {
          count: 7n,
          head: hash32FromBytes(sha256(new Uint8Array(32))),
          slot: SAMPLE.slot - 2n,
          ledgerTime: SAMPLE.createdAt,
          atMs: Number(SAMPLE.createdAt) * 1000,
        },
        running: false,
        lastError: null,
        snapshotError: null,
        snapshotFailures: 0,
        contradiction: null,
        contradictedAnswers: 0,
        peers: new Map(),
        hasHistory: true,
        progress: null,
        lagSlots: 2n,
      },
      log: logStatusExample(),
    },
    "1.0.0-devnet",
  );
