import type { SyncMark } from "../../core/domain/index/sync-report.ts";
import type { IndexSummary } from "../../ports/index/index-reader.ts";
import { u64Of } from "./index-rows.ts";

/** What the one row of the table `ledger` counts, as either client reads it. */
export type SummaryRow = {
  readonly escrows: bigint;
  readonly unseen: bigint;
  readonly merchants: bigint;
  readonly mark_count: bigint | null;
  readonly mark_frontier: Uint8Array | null;
  readonly mark_slot: bigint | string | null;
  readonly mark_ledger_time: bigint | null;
  readonly mark_at_ms: bigint | null;
  readonly pace_slot: bigint | string | null;
  readonly pace_at_ms: bigint | null;
  readonly snapshot_at_ms: bigint | null;
};

const markOf = (row: SummaryRow): SyncMark | null =>
  row.mark_count === null ||
  row.mark_frontier === null ||
  row.mark_slot === null ||
  row.mark_ledger_time === null ||
  row.mark_at_ms === null
    ? null
    : {
        count: row.mark_count,
        frontier: new Uint8Array(row.mark_frontier),
        slot: u64Of(row.mark_slot),
        ledgerTime: row.mark_ledger_time,
        atMs: Number(row.mark_at_ms),
        ...(row.pace_slot === null || row.pace_at_ms === null
          ? {}
          : { paceFrom: { slot: u64Of(row.pace_slot), atMs: Number(row.pace_at_ms) } }),
      };

/** What the index counts and how far it is complete. */
export const summaryOf = (row: SummaryRow): Omit<IndexSummary, "revision"> => ({
  escrows: Number(row.escrows),
  unseen: Number(row.unseen),
  merchants: Number(row.merchants),
  mark: markOf(row),
  snapshotAtMs: row.snapshot_at_ms === null ? null : Number(row.snapshot_at_ms),
});

/** Sets the mark to `markValues`. Both dialects take `$1`. */
export const PUT_MARK = `mark_count = $1, mark_frontier = $2, mark_slot = $3, mark_ledger_time = $4, mark_at_ms = $5,
  pace_slot = $6, pace_at_ms = $7`;

/** What `PUT_MARK` binds; `slotColumn` is how the store holds a u64. */
export const markValues = (mark: SyncMark, slotColumn: (u64: bigint) => bigint) =>
  [
    mark.count,
    mark.frontier,
    slotColumn(mark.slot),
    mark.ledgerTime,
    Math.trunc(mark.atMs),
    mark.paceFrom === undefined ? null : slotColumn(mark.paceFrom.slot),
    mark.paceFrom === undefined ? null : Math.trunc(mark.paceFrom.atMs),
  ] as const;

/** Rows of each kind that a transaction has added; negative for removed ones. */
export type CountChanges = { escrows: number; unseen: number; merchants: number };

/** Adds `CountChanges` to what the index counts. */
export const ADD_COUNTS =
  "UPDATE ledger SET escrows = escrows + $1, unseen = unseen + $2, merchants = merchants + $3";

/** Sets every count to zero and removes the mark and the time of the last snapshot. */
export const CLEARED = `escrows = 0, unseen = 0, merchants = 0, mark_count = NULL, mark_frontier = NULL, mark_slot = NULL,
  mark_ledger_time = NULL, mark_at_ms = NULL, pace_slot = NULL, pace_at_ms = NULL, snapshot_at_ms = NULL`;
