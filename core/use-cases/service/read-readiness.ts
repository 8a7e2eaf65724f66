import { Effect } from "effect";
import type { SyncActivity } from "../index/sync/index-sync.ts";
import { indexStatus, lagBehind, orNull } from "./index-status.ts";
import { LedgerPulse } from "./ledger-pulse.ts";

/** Why an index is stale: how this process's last sync and snapshot failed, and the lag in slots. */
export type StaleIndex = Pick<SyncActivity, "lastError" | "snapshotError"> & {
  readonly lagSlots: bigint;
};

/** Lag in slots from which an index is stale: five minutes at 400 ms a slot. */
const STALE_SLOTS = 750n;

/**
 * The dependencies that do not answer (`store`, `ledger`), and how stale the index is. `stale` is null when the index is
 * fresh, not known, or never synced. Never fails, and answers within a second.
 */
export const readReadiness = Effect.fn("readReadiness")(function* () {
  const pulse = yield* LedgerPulse;
  const [index, tip] = yield* Effect.all([orNull(indexStatus), orNull(pulse.tip("confirmed"))], {
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
