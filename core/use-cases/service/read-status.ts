import { Effect, Result } from "effect";
import type { Address } from "../../domain/address.ts";
import type { SupportedMint } from "../../domain/supported-mint.ts";
import type { IndexSummary } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { LedgerRecord, type LedgerStanding } from "../../../ports/ledger/ledger-record.ts";
import type { SyncActivity } from "../index/sync/index-sync.ts";
import { RelayDelivery } from "../relay/relay-delivery.ts";
import { indexStatus, lagBehind, type LogStatus, orNull, readLogStatus } from "./log-status.ts";
import { LedgerPulse } from "./ledger-pulse.ts";
import { isUsable, type ProgramStatus, programStatus } from "./program-status.ts";

/** The state of the service and of what it depends on. */
export type ServiceStatus = {
  /** `online` when ledger and store answer and both programs are usable (`isUsable`). */
  readonly status: "online" | "degraded";
  readonly network: {
    readonly cluster: string;
    readonly address: string;
    /** As a node shows it, or as the store has recorded it while none does. */
    readonly genesisHash: string | null;
    /** How the nodes stand to that genesis hash. */
    readonly identity: LedgerStanding;
    readonly slot: bigint | null;
    readonly latencyMs: number | null;
    readonly healthy: boolean;
  };
  readonly custody: ProgramStatus;
  readonly attestor: ProgramStatus;
  /** Whether transactions can be recorded, without which none is relayed. */
  readonly records: boolean;
  /** The mint whose deliveries count towards reputation and volume; null when it could not be found out. */
  readonly settlementMint: Address | null;
  readonly supportedMints: ReadonlyArray<SupportedMint>;
  /** `slow`: the store takes its time; null: it failed. */
  readonly index:
    | (IndexSummary & SyncActivity & { readonly lagSlots: bigint | null })
    | "slow"
    | null;
  /** The settlement log; null without one, and while it is not known. */
  readonly log: LogStatus | null;
};

/** The service's status; null means not known. Never fails, and answers within a second. */
export const readStatus = Effect.fn("readStatus")(function* () {
  const { cluster, networkAddress, deployment, programPins, supportedMints } = yield* Instance;
  const pulse = yield* LedgerPulse;
  const [ledger, read, log] = yield* Effect.all(
    [orNull(pulse.status), orNull(Effect.result(indexStatus)), orNull(readLogStatus)],
    { concurrency: "unbounded" },
  );
  const index = read && Result.getOrNull(read);
  const record = yield* (yield* LedgerRecord).state;
  const unrecorded = yield* (yield* RelayDelivery).unrecorded;
  const custody = programStatus(
    "custody",
    deployment.custodyProgram,
    ledger && ledger.custody,
    ledger && ledger.initialised.custody && !ledger.initialised.isOfOtherLedger,
    programPins.custody,
  );
  const attestor = programStatus(
    "attestor",
    deployment.attestorProgram,
    ledger && ledger.attestor,
    ledger && ledger.initialised.attestor,
    programPins.attestor,
  );
  const lagSlots = lagBehind(index?.mark, ledger?.slot);
  const healthy = ledger !== null;
  const usable = [custody, attestor].every(isUsable);
  const status: ServiceStatus = {
    status: healthy && usable && index !== null ? "online" : "degraded",
    network: {
      cluster,
      address: networkAddress,
      genesisHash: ledger?.genesisHash ?? record.genesisHash,
      identity: record.standing,
      slot: ledger?.slot ?? null,
      latencyMs: ledger?.latencyMs ?? null,
      healthy,
    },
    custody,
    attestor,
    records: unrecorded === null,
    settlementMint: ledger?.settlementMint ?? null,
    supportedMints,
    index: read === null ? "slow" : index && { ...index, lagSlots },
    log,
  };
  return status;
});
