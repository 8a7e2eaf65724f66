import { Clock, Effect } from "effect";
import { programDataAddress } from "../../protocol/addresses/addresses.ts";
import type { IndexSummary } from "../../../ports/escrow-index.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import type { SyncActivity } from "../index/index-sync.ts";
import { indexStatus, lagBehind, orNull } from "./index-status.ts";
import { type ProgramStatus, programStatus } from "./program-status.ts";

/** The state of the service and of what it depends on. */
export type ServiceStatus = {
  /** `online` when ledger and store answer and both programs are executable. */
  readonly status: "online" | "degraded";
  readonly network: {
    readonly cluster: string;
    readonly address: string;
    readonly genesisHash: string | null;
    readonly slot: bigint | null;
    readonly latencyMs: number | null;
    readonly healthy: boolean;
  };
  readonly custody: ProgramStatus;
  readonly attestor: ProgramStatus;
  readonly index: (IndexSummary & SyncActivity & { readonly lagSlots: bigint | null }) | null;
};

const ledgerStatus = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const programs = [deployment.custodyProgram, deployment.attestorProgram];
  const startedAtMs = yield* Clock.currentTimeMillis;
  const tip = yield* ledger.tip("finalized");
  const latencyMs = Math.max(0, (yield* Clock.currentTimeMillis) - startedAtMs);
  const genesisHash = yield* ledger.genesisHash;
  const addresses = programs.flatMap((program) => [program, programDataAddress(program)]);
  const { value } = yield* ledger.readAccounts(
    addresses,
    "confirmed",
    // The whole ELF is needed for its hash.
    Number.POSITIVE_INFINITY,
  );
  const pair = (at: number) => ({ program: value[at] ?? null, data: value[at + 1] ?? null });
  return { slot: tip.slot, latencyMs, genesisHash, custody: pair(0), attestor: pair(2) };
});

/** The service's status; null means not known. Never fails, and answers within a second. */
export const readStatus = Effect.fn("readStatus")(function* () {
  const { cluster, networkAddress, deployment } = yield* Instance;
  const [ledger, index] = yield* Effect.all([orNull(ledgerStatus), orNull(indexStatus)], {
    concurrency: "unbounded",
  });
  const custody = programStatus("custody", deployment.custodyProgram, ledger && ledger.custody);
  const attestor = programStatus("attestor", deployment.attestorProgram, ledger && ledger.attestor);
  const lagSlots = lagBehind(index?.checkpoint, ledger?.slot);
  const healthy = ledger !== null;
  const usable = custody.executable === true && attestor.executable === true;
  const status: ServiceStatus = {
    status: healthy && usable && index !== null ? "online" : "degraded",
    network: {
      cluster,
      address: networkAddress,
      genesisHash: ledger?.genesisHash ?? null,
      slot: ledger?.slot ?? null,
      latencyMs: ledger?.latencyMs ?? null,
      healthy,
    },
    custody,
    attestor,
    index: index && { ...index, lagSlots },
  };
  return status;
});
