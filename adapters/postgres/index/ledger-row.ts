import type { SyncMark } from "../../../core/domain/index/sync-report.ts";
import type { IndexSummary } from "../../../ports/index/index-reader.ts";
import {
  ADD_COUNTS,
  CLEARED,
  type CountChanges,
  markValues,
  PUT_MARK,
  type SummaryRow,
  summaryOf,
} from "../../sql/summary-row.ts";
import { type Queries, rowsOf } from "../queries.ts";

type LedgerRow = SummaryRow & { readonly building: string | null };

const rowIn = async (sql: Queries, lock = ""): Promise<LedgerRow> => {
  const [row] = await rowsOf<LedgerRow>(sql, `SELECT * FROM ledger ${lock}`);
  if (row === undefined) throw new Error("the store was claimed for its ledger when it was opened");
  return row;
};

/**
 * What the index counts. The revision is null: asking for it costs a round trip, which is most of what a page costs.
 */
export const summaryIn = async (sql: Queries): Promise<IndexSummary> => {
  return { ...summaryOf(await rowIn(sql)), revision: null };
};

/** The mark's count and the build under way, with the row locked against other writers until the transaction ends. */
export const lockLedger = async (sql: Queries) => {
  const { mark_count, building } = await rowIn(sql, "FOR NO KEY UPDATE");
  return { count: mark_count, building };
};

/** Sets how far the index is complete. */
export const putMark = async (sql: Queries, mark: SyncMark): Promise<void> => {
  await rowsOf(
    sql,
    `UPDATE ledger SET building = NULL, ${PUT_MARK}`,
    markValues(mark, (slot) => slot),
  );
};

/** Sets when the last snapshot was complete, unix milliseconds. */
export const putSnapshotTime = async (sql: Queries, atMs: number): Promise<void> => {
  await rowsOf(sql, "UPDATE ledger SET snapshot_at_ms = $1", [Math.trunc(atMs)]);
};

/** Sets every count to zero and removes the mark, the time of the last snapshot and the build's name. */
export const clearLedger = async (sql: Queries): Promise<void> => {
  await rowsOf(sql, `UPDATE ledger SET building = NULL, ${CLEARED}`);
};

/** Says which build is on its way. */
export const nameBuild = async (sql: Queries, building: string): Promise<void> => {
  await rowsOf(sql, "UPDATE ledger SET building = $1", [building]);
};

/** Adds to what the index counts. */
export const addCounts = async (sql: Queries, counts: CountChanges): Promise<void> => {
  await rowsOf(sql, ADD_COUNTS, [counts.escrows, counts.unseen, counts.merchants]);
};
