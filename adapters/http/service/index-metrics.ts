import { Effect, Metric } from "effect";
import { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { readIndexLag } from "../../../core/use-cases/service/read-index-lag.ts";

const syncedSlot = Metric.gauge("index_synced_slot", {
  description:
    "Slot at which the last completed sync read the ledger's count of events; NaN before the first sync or without the store.",
});
const syncedAt = Metric.gauge("index_synced_timestamp_seconds", {
  description: "When the last completed sync ended, unix seconds; NaN as for the slot.",
});
const lag = Metric.gauge("index_lag_slots", {
  description: "Finalized slots that the index is behind; NaN while the ledger does not tell.",
});

const snapshotFailures = Metric.gauge("index_snapshot_failures", {
  description: "Snapshots that failed since the last that completed, by this process.",
});

/** Sets how far the index has got, for a scrape. Never fails; within a second. */
export const gaugeIndex = Effect.gen(function* () {
  const { mark, lagSlots } = yield* readIndexLag;
  yield* Metric.update(syncedSlot, mark === null ? Number.NaN : Number(mark.slot));
  yield* Metric.update(syncedAt, mark === null ? Number.NaN : mark.atMs / 1000);
  yield* Metric.update(lag, lagSlots === null ? Number.NaN : Number(lagSlots));
  const sync = yield* IndexSync;
  yield* Metric.update(snapshotFailures, (yield* sync.activity).snapshotFailures);
});
