import type { Database } from "bun:sqlite";
import type { SyncMark } from "../../../core/domain/index/sync-mark.ts";
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
import { toColumn, type Values } from "../columns.ts";

/** The one row of the table `ledger`: the mark, the time of the last snapshot, and how many rows of each kind there are. */
export const ledgerRow = (db: Database) => {
  const select = db.query<SummaryRow, []>("SELECT * FROM ledger");
  const count = db.query<null, [number, number, number]>(ADD_COUNTS);
  const mark = db.query<null, Array<Values[number]>>(`UPDATE ledger SET ${PUT_MARK}`);
  const clear = db.query<null, []>(`UPDATE ledger SET ${CLEARED}`);
  const snapshot = db.query<null, [number]>("UPDATE ledger SET snapshot_at_ms = ?1");
  return {
    read: (): Omit<IndexSummary, "revision"> => {
      const row = select.get();
      if (row === null) throw new Error("a store that is open was claimed");
      return summaryOf(row);
    },
    count: ({ escrows, unseen, merchants }: CountChanges): void => {
      count.run(escrows, unseen, merchants);
    },
    mark: (next: SyncMark): void => {
      mark.run(...markValues(next, toColumn));
    },
    /** Sets when the last snapshot was complete. */
    snapshot: (atMs: number): void => {
      snapshot.run(Math.trunc(atMs));
    },
    clear: (): void => {
      clear.run();
    },
  };
};
