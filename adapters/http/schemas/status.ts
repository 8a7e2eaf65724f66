import { type Static, Type } from "@sinclair/typebox";
import {
  Address,
  Commitment,
  Count,
  Hash,
  nullable,
  oneOf,
  record,
  Slot,
  Time,
} from "../openapi/values.ts";

const State = oneOf(
  ["online", "degraded"],
  "`degraded` when something it needs is not known to work.",
);

const ProgramStatus = record("ProgramStatus", "What the ledger shows of one program.", {
  address: Address("The program."),
  deployed: nullable(Type.Boolean()),
  executable: nullable(Type.Boolean()),
  upgrade_authority: nullable(Address("Who can change the program."), {
    description: "Null: nobody, or not known.",
  }),
  sha256: nullable(Hash("Of the deployed ELF, without the zero bytes at its end.")),
});

/** The state of the service and of what it depends on. */
export const ServiceStatus = record(
  "ServiceStatus",
  "The state of the service. Null is what could not be found out in time.",
  {
    status: State,
    version: Type.String(),
    network: record("NetworkStatus", "The ledger.", {
      cluster: Type.String(),
      rpc_address: Type.String({ description: "Without credentials, path or query." }),
      genesis_hash: nullable(Type.String()),
      slot: nullable(Slot()),
      latency_ms: nullable(Type.Number({ minimum: 0 })),
      healthy: Type.Boolean(),
    }),
    programs: record("ProgramStatuses", "Both programs.", {
      custody: ProgramStatus,
      attestor: ProgramStatus,
    }),
    relay: record("RelayStatus", "The relay.", { status: State }),
    reads: record("ReadsStatus", "Live reads.", { status: State, commitment: Commitment }),
    indexer: record("IndexerStatus", "The index.", {
      status: State,
      last_synced_slot: nullable(Slot()),
      last_synced_at: nullable(Time("By the service's clock.")),
      lag_slots: nullable(Count("Slots behind the ledger.")),
      escrows: nullable(Count("Rows.")),
      events: nullable(Count("Rows.")),
      merchants: nullable(Count("Rows.")),
      running: nullable(Type.Boolean({ description: "Whether a sync runs now." })),
      progress: nullable(
        record("SyncProgress", "How far the running sync has come.", {
          phase: oneOf(["accounts", "transactions"], "What it reads."),
          done: Count("Read so far."),
          total: nullable(Count("As far as is known.")),
        }),
        { description: "Null while none runs." },
      ),
      last_error: nullable(Type.String({ description: "Problem code of the last failed sync." })),
      snapshot_error: nullable(
        Type.String({
          description:
            "Problem code of the last snapshot, when it failed. Where the index has one already, syncs by changes go on.",
        }),
      ),
    }),
  },
);
export type ServiceStatusRecord = Static<typeof ServiceStatus>;
