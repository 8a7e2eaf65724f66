import { Effect, Result } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { LedgerRecord } from "../../../ports/ledger/ledger-record.ts";
import type { SyncActivity } from "../index/sync/index-sync.ts";
import { LedgerPulse } from "./ledger-pulse.ts";
import { indexStatus, lagBehind, orNull } from "./log-status.ts";
import { UnpinnedPrograms } from "./unpinned-programs.ts";

/**
 * The index's mark, its lag in slots, and when its last snapshot was complete; null means not known. Never fails, and
 * answers within a second.
 */
export const readIndexLag = Effect.gen(function* () {
  const index = yield* IndexReader;
  const pulse = yield* LedgerPulse;
  const [store, tip] = yield* Effect.all([orNull(index.summary), orNull(pulse.tip("finalized"))], {
    concurrency: "unbounded",
  });
  return {
    mark: store?.mark ?? null,
    snapshotAtMs: store?.snapshotAtMs ?? null,
    lagSlots: lagBehind(store?.mark, tip?.slot),
  };
}).pipe(Effect.withSpan("readIndexLag"));

/** Why an index is stale: how this process's last sync and snapshot failed, and the lag in slots. */
export type StaleIndex = Pick<SyncActivity, "lastError" | "snapshotError"> & {
  readonly lagSlots: bigint;
};

/** Lag in slots from which an index is stale: five minutes at 400 ms a slot. */
const STALE_SLOTS = 750n;

/** What keeps a service from being ready, in the order in which it is reported. */
export const NOT_READY_PARTS = [
  "store",
  "ledger",
  "identity",
  "programs",
  "domain",
  "pins",
  "index",
] as const;
/**
 * One of them: a store or ledger that does not answer, a node of another ledger than the store's or of
 * one without what the index has, programs that are not
 * initialised for each other, initialised for another ledger or not the pinned ones, an index without a sync.
 */
export type NotReadyPart = (typeof NOT_READY_PARTS)[number];

/** What keeps a part from answering, and what the operator can do; null when it answers, or does not say in time. */
const cureOf = <A>(exit: Result.Result<A, unknown> | null): string | null => {
  if (exit === null || Result.isSuccess(exit)) return null;
  const failure = exit.failure as { readonly fault?: { readonly cure: string } | undefined };
  return failure.fault?.cure ?? null;
};

/**
 * Whether the ledger answers, whether the programs are initialised for each other and for it, and which are not the
 * pinned ones.
 */
const readLedger = Effect.gen(function* () {
  const pulse = yield* LedgerPulse;
  const tip = yield* pulse.tip("confirmed");
  const { custody, attestor, isOfOtherLedger } = yield* pulse.initialised;
  const isInitialised = custody && attestor;
  const unpinned = yield* yield* UnpinnedPrograms;
  return { slot: tip.slot, isInitialised, isOfOtherLedger, unpinned };
});

/**
 * What is not ready, what the operator can do where a store or a node has said what is wrong, and how stale the index
 * is. `stale` is null when the index is fresh, not known, or never synced. Never fails, and answers within a second.
 */
export const readReadiness = Effect.fn("readReadiness")(function* () {
  const [indexed, asked] = yield* Effect.all(
    [orNull(Effect.result(indexStatus)), orNull(Effect.result(readLedger))],
    { concurrency: "unbounded" },
  );
  const index = indexed && Result.getOrNull(indexed);
  const ledger = asked && Result.getOrNull(asked);
  // That of the part that is reported first: what cures a node cures no store.
  const cure = index === null ? cureOf(indexed) : cureOf(asked);
  const { syncsByItself } = yield* Instance;
  const { standing } = yield* (yield* LedgerRecord).state;
  // Nothing undoes an initialisation, so a ledger without one is not that of the index, or its state is lost.
  const isEmptied = ledger?.isInitialised === false && (index?.mark ?? null) !== null;
  const lacks: Readonly<Record<NotReadyPart, boolean>> = {
    store: index === null,
    // Nodes of another ledger are not asked.
    ledger: ledger === null && standing !== "contradicted",
    identity: standing === "contradicted" || isEmptied,
    programs: ledger !== null && !ledger.isInitialised && !isEmptied,
    domain: ledger !== null && ledger.isOfOtherLedger,
    pins: ledger !== null && ledger.unpinned.length > 0,
    // Without syncs of its own, a service would never be ready: its lists say so until somebody asks for one.
    index: syncsByItself && index !== null && index.mark === null,
  };
  const missing = NOT_READY_PARTS.filter((part) => lacks[part]);
  const lagSlots = lagBehind(index?.mark, ledger?.slot);
  if (index === null || lagSlots === null) return { missing, cure, stale: null };
  const { lastError, snapshotError } = index;
  const isFresh = lastError === null && snapshotError === null && lagSlots < STALE_SLOTS;
  const stale: StaleIndex | null = isFresh ? null : { lagSlots, lastError, snapshotError };
  return { missing, cure, stale };
});
