import { type Static, Type } from "@sinclair/typebox";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { PROGRAM_HASHES } from "../../../../core/protocol/generated/program-hashes.ts";
import {
  isUsable,
  type ProgramStatus as Program,
  type ProgramName,
} from "../../../../core/use-cases/service/program-status.ts";
import type { ServiceStatus as Status } from "../../../../core/use-cases/service/read-status.ts";
import { LEDGER_STANDINGS } from "../../../../ports/ledger/ledger-record.ts";
import { sampleInstance } from "../../openapi/sample-ledger.ts";
import { SAMPLE, sampleParties } from "../../openapi/sample-values.ts";
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
} from "../../openapi/values.ts";
import { indexerRecord, IndexerStatus, PartState } from "./index-status-contract.ts";
import { logRecord, logStatusExample, SettlementLogStatus } from "./log-status-contract.ts";

const ProgramStatus = record("ProgramStatus", "What the ledger shows of one program.", {
  address: Address("The program."),
  deployed: nullable(Type.Boolean()),
  executable: nullable(Type.Boolean()),
  upgrade_authority: nullable(Address("Who can change the program."), {
    description: "Null: nobody can change it, or not known.",
  }),
  sha256: nullable(Hash("Of the deployed ELF, without the zero bytes at its end.")),
  pinned_sha256: Type.Array(Hash("One that this service accepts."), {
    description:
      "With a hash that is not in it the service neither prepares nor relays. Empty: none is pinned.",
  }),
  is_pinned: nullable(Type.Boolean({ description: "Whether `sha256` is one of them." }), {
    description: "Null: none is pinned, or not known.",
  }),
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
        "Whether its own account, custody's config or the registry, exists and names the other program. Custody's must name this ledger too.",
    }),
    { description: "Null: not known." },
  ),
});

/** The state of the service and of what it depends on. */
export const ServiceStatus = record(
  "ServiceStatus",
  "The state of the service. A null value could not be read in time.",
  {
    status: PartState,
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
    relay: record(
      "RelayStatus",
      "The relay. It is degraded also while transactions cannot be recorded.",
      { status: PartState },
    ),
    reads: record("ReadsStatus", "Live reads.", { status: PartState, commitment: Commitment }),
    indexer: IndexerStatus,
    log: nullable(SettlementLogStatus, {
      description: "Null: no log, or not known.",
    }),
  },
);
/** What `GET /v1/status` answers, as JSON. */
type ServiceStatusRecord = Static<typeof ServiceStatus>;

const programRecord = (program: Program): Static<typeof ProgramStatus> => ({
  address: program.address,
  deployed: program.deployed,
  executable: program.executable,
  upgrade_authority: program.upgradeAuthority,
  sha256: program.sha256,
  pinned_sha256: [...program.pinned],
  is_pinned: program.isPinned,
  sbpf_version: program.sbpfVersion,
  is_ours: program.isOurs,
  initialised: program.initialised,
});

/** The service's status as JSON. */
export const statusRecord = (status: Status, version: string): ServiceStatusRecord => {
  const { network, custody, attestor } = status;
  const reads = network.healthy ? "online" : "degraded";
  const relays = status.records && [custody, attestor].every(isUsable);
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
    relay: { status: relays ? reads : "degraded" },
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
  pinned: [PROGRAM_HASHES[name].v3],
  isPinned: true,
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
      records: true,
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
          frontier: new Uint8Array(1280).fill(1),
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
        callsElsewhere: [],
        hasHistory: true,
        signals: { isLive: true, isSilent: false, failures: 0 },
        progress: null,
        lagSlots: 2n,
      },
      log: logStatusExample(),
    },
    "1.0.0-devnet",
  );
