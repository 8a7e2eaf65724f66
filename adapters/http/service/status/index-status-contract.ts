import { type Static, Type } from "@sinclair/typebox";
import type { HistoryHead, IndexContradiction } from "../../../../core/domain/index/sync-report.ts";
import { rootOf } from "../../../../core/log/tree/frontier.ts";
import type { SyncError } from "../../../../core/use-cases/index/sync/sync-failure.ts";
import type { ServiceStatus } from "../../../../core/use-cases/service/read-status.ts";
import type { SignalStanding } from "../../../../ports/ledger/ledger-signals.ts";
import { Count, Hash, nullable, oneOf, record, Slot, Time } from "../../openapi/values.ts";
import { CODE_OF_FAILURE } from "../../problems/api-failure.ts";
import type { ProblemCode } from "../../problems/problem-catalogue.ts";

/** The schema of a state, of the service or of one of its parts. */
export const PartState = oneOf(
  ["online", "degraded"],
  "`degraded` when a dependency does not work or is not known to work.",
);

const HistoryHeadRecord = record("HistoryHead", "A state of the custody program's history.", {
  count: Type.String({ description: "Events, as decimal digits." }),
  root: Hash("The root of the log that holds them."),
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

/** The index's part of the service's status. */
export const IndexerStatus = record("IndexerStatus", "The index.", {
  status: PartState,
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
  root: nullable(Hash("The root of the log that holds the events up to it.")),
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
  signals: nullable(
    oneOf(
      ["live", "silent", "lost"],
      "`lost`: no node takes the subscription to the ledger's signals now. `silent`: one has taken it and tells of nothing, not even of slots, or a sync has found events that it did not tell of. Syncs then go on by interval.",
    ),
    { description: "Null: this process listens to none, or it is not known." },
  ),
  last_error: nullable(
    Type.String({
      description:
        "Problem code of the last failed sync, such as `ledger_unavailable`, or `slot_beyond_reach` for a slot that no sync takes; `store_unavailable` also while the store fails. Null beside a null `count` while it takes longer than 700 ms.",
    }),
  ),
  snapshot_error: nullable(
    Type.String({
      description:
        "Problem code of the last snapshot, when it failed. With an earlier snapshot, incremental syncs continue.",
    }),
  ),
});

/** The problem code of the error that ended work on the index, null without an error. */
export const syncErrorCode = (error: SyncError | null): ProblemCode | null => {
  if (error === null) return null;
  return error === "InternalError" ? "internal_error" : CODE_OF_FAILURE[error];
};

const headRecord = ({ count, root }: HistoryHead) => ({ count: count.toString(), root });

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

const signalsWord = (signals: SignalStanding | null): Static<typeof IndexerStatus>["signals"] => {
  if (signals === null) return null;
  if (!signals.isLive) return "lost";
  return signals.isSilent ? "silent" : "live";
};

/** The state of the index as JSON; null members where it could not be read. */
export const indexerRecord = (read: ServiceStatus["index"]): Static<typeof IndexerStatus> => {
  const index = read === "slow" ? null : read;
  // Only a store that fails keeps it from being known. One that is slow has said nothing.
  const unknown = read === null ? "StoreUnavailable" : null;
  const { mark = null, lastError = unknown, snapshotError = null } = index ?? {};
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
    root: mark && rootOf(mark),
    merchants: index?.merchants ?? null,
    running: index?.running ?? null,
    progress: index?.progress ?? null,
    contradiction: contradictionRecord(index?.contradiction ?? null),
    history: index === null ? null : index.hasHistory ? "followed" : "not_served",
    signals: signalsWord(index?.signals ?? null),
    last_error: syncErrorCode(lastError),
    snapshot_error: syncErrorCode(snapshotError),
  };
};
