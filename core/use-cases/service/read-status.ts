import { sha256 } from "../../domain/sha256.ts";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Clock, Duration, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerAccount } from "../../domain/ledger/account.ts";
import type { SupportedMint } from "../../domain/supported-mint.ts";
import { decodeAttestorRegistryAccount } from "../../protocol/accounts/attestor-registry-account.ts";
import { programDataAddress, registryAddress } from "../../protocol/addresses/addresses.ts";
import { decodeProgramDataAccount } from "../../protocol/accounts/loader-v3.ts";
import { EscrowIndex, type IndexSummary, type SyncMark } from "../../../ports/escrow-index.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger.ts";
import { IndexSync, type SyncActivity } from "../index/index-sync.ts";

/** What the ledger shows of one program; null is what could not be found out. */
export type ProgramStatus = {
  readonly address: Address;
  readonly deployed: boolean | null;
  readonly executable: boolean | null;
  /** Null also when nobody can upgrade the program. */
  readonly upgradeAuthority: Address | null;
  /** SHA-256 of the deployed ELF without the zero bytes at its end, hex. */
  readonly sha256: string | null;
};

/** The state of the service and of what it depends on. */
export type ServiceStatus = {
  /** `online` when ledger and store answer, the ledger is the store's and both programs are deployed. */
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
  /** The mint whose deliveries count towards reputation and volume; null when it could not be found out. */
  readonly settlementMint: Address | null;
  readonly supportedMints: ReadonlyArray<SupportedMint>;
  readonly index: (IndexSummary & SyncActivity & { readonly lagSlots: bigint | null }) | null;
};

/** How long a part of the status may take before it counts as not known. */
const PART_TIMEOUT = Duration.millis(700);

const orNull = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.timeout(PART_TIMEOUT),
    Effect.orElseSucceed(() => null),
  );

const withoutTrailingZeros = (bytes: Uint8Array): Uint8Array => {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end--;
  return bytes.subarray(0, end);
};

const programStatus = (
  address: Address,
  accounts: { readonly program: LedgerAccount | null; readonly data: LedgerAccount | null } | null,
): ProgramStatus => {
  if (accounts === null)
    return { address, deployed: null, executable: null, upgradeAuthority: null, sha256: null };
  const { program, data } = accounts;
  const programData = data === null ? undefined : decodeProgramDataAccount(data);
  return {
    address,
    deployed: program !== null,
    executable: program?.executable ?? false,
    upgradeAuthority: programData?.upgradeAuthority ?? null,
    sha256:
      programData === undefined ? null : bytesToHex(sha256(withoutTrailingZeros(programData.elf))),
  };
};

const ledgerStatus = Effect.gen(function* () {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const programs = [deployment.custodyProgram, deployment.attestorProgram];
  const startedAtMs = yield* Clock.currentTimeMillis;
  const tip = yield* ledger.tip("finalized");
  const latencyMs = Math.max(0, (yield* Clock.currentTimeMillis) - startedAtMs);
  const genesisHash = yield* ledger.genesisHash;
  const registry = registryAddress(deployment).address;
  const addresses = [
    ...programs.flatMap((program) => [program, programDataAddress(program)]),
    registry,
  ];
  const { value } = yield* ledger.readAccounts(
    addresses,
    "confirmed",
    // A program's ELF is hashed whole.
    Number.POSITIVE_INFINITY,
  );
  const pair = (at: number) => ({ program: value[at] ?? null, data: value[at + 1] ?? null });
  const registered = value[4] ?? null;
  const decoded =
    registered === null ? null : decodeAttestorRegistryAccount(registered, deployment);
  const settlementMint =
    decoded !== null && "value" in decoded ? decoded.value.settlementMint : null;
  return {
    slot: tip.slot,
    latencyMs,
    genesisHash,
    custody: pair(0),
    attestor: pair(2),
    settlementMint,
  };
});

const indexStatus = Effect.gen(function* () {
  const index = yield* EscrowIndex;
  const sync = yield* IndexSync;
  return { ...(yield* index.summary), ...(yield* sync.activity) };
});

/** How many slots the ledger is ahead of the index, null where either is not known. */
const lagBehind = (mark: SyncMark | null | undefined, slot: bigint | undefined): bigint | null => {
  if (mark === null || mark === undefined || slot === undefined) return null;
  return slot > mark.slot ? slot - mark.slot : 0n;
};

/** How far the index has got. Never fails, and answers within a second: what is not known is null. */
export const readIndexLag = Effect.gen(function* () {
  const index = yield* EscrowIndex;
  const ledger = yield* Ledger;
  const [store, tip] = yield* Effect.all([orNull(index.summary), orNull(ledger.tip("finalized"))], {
    concurrency: "unbounded",
  });
  return { mark: store?.mark ?? null, lagSlots: lagBehind(store?.mark, tip?.slot) };
}).pipe(Effect.withSpan("readIndexLag"));

/** The service's status. Never fails, and answers within a second: what is not known is null. */
export const readStatus = Effect.fn("readStatus")(function* () {
  const { cluster, networkAddress, deployment, supportedMints } = yield* Instance;
  const [ledger, index] = yield* Effect.all([orNull(ledgerStatus), orNull(indexStatus)], {
    concurrency: "unbounded",
  });
  const custody = programStatus(deployment.custodyProgram, ledger && ledger.custody);
  const attestor = programStatus(deployment.attestorProgram, ledger && ledger.attestor);
  const lagSlots = lagBehind(index?.mark, ledger?.slot);
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
    settlementMint: ledger?.settlementMint ?? null,
    supportedMints,
    index: index && { ...index, lagSlots },
  };
  return status;
});

/** An index that is not as fresh as it should be, by this process's syncs and by its distance from the ledger. */
export type StaleIndex = Pick<SyncActivity, "lastError" | "snapshotError"> & {
  readonly lagSlots: bigint;
};

/** Slots behind the ledger from which an index is stale: five minutes at 400 ms a slot. */
const STALE_SLOTS = 750n;

/**
 * Which of the things that answers depend on are not ready, none when all are; and how stale the index is, null when
 * it is fresh, has never been synced, or not known. Never fails, and answers within a second.
 */
export const readReadiness = Effect.fn("readReadiness")(function* () {
  const ledger = yield* Ledger;
  const [index, tip] = yield* Effect.all([orNull(indexStatus), orNull(ledger.tip("confirmed"))], {
    concurrency: "unbounded",
  });
  const missing = [...(index === null ? ["store"] : []), ...(tip === null ? ["ledger"] : [])];
  const lagSlots = lagBehind(index?.mark, tip?.slot);
  if (index === null || lagSlots === null) return { missing, stale: null };
  const { lastError, snapshotError } = index;
  const isFresh = lastError === null && snapshotError === null && lagSlots < STALE_SLOTS;
  const stale: StaleIndex | null = isFresh ? null : { lagSlots, lastError, snapshotError };
  return { missing, stale };
});
