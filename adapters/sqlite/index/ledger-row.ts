import type { Database } from "bun:sqlite";
import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import type { UnseenEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import type { SyncMark } from "../../../core/domain/index/sync-report.ts";
import type { IndexSummary } from "../../../ports/index/index-reader.ts";
import { UNSEEN_COLUMNS, unseenOf, type UnseenRow, unseenValues } from "../../sql/index-rows.ts";
import {
  ADD_COUNTS,
  CLEARED,
  type CountChanges,
  markValues,
  PUT_MARK,
  summaryOf,
  type SummaryRow,
} from "../../sql/summary-row.ts";
import { toColumn, type Values } from "../columns.ts";

/** Finds unseen escrows by their addresses. */
export const unseenByAddress = (db: Database) => {
  const one = db.query<UnseenRow, [Uint8Array, Uint8Array]>(
    `SELECT ${UNSEEN_COLUMNS} FROM unseen_escrow WHERE substr(address, 1, 6) = ?1 AND address = ?2`,
  );
  /** The unseen escrow at an address, undefined when there is none. */
  return (address: Address): UnseenEscrow | undefined => {
    const bytes = addressToBytes(address);
    const row = one.get(bytes.slice(0, 6), bytes);
    return row === null ? undefined : unseenOf(row);
  };
};

/** Reads and writes a table of unseen escrows. */
export const unseenTable = (db: Database, table: string) => {
  const insert = db.query<null, Array<number | bigint | Uint8Array | null>>(
    `INSERT INTO ${table} (${UNSEEN_COLUMNS})
     VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
  );
  const remove = db.query<null, [bigint]>(`DELETE FROM ${table} WHERE created_seq = ?1`);
  const page = db.query<UnseenRow, [bigint, number]>(
    `SELECT ${UNSEEN_COLUMNS} FROM ${table}
     WHERE created_seq > ?1 ORDER BY created_seq LIMIT ?2`,
  );
  return {
    insert: (row: UnseenEscrow): void => {
      insert.run(...unseenValues(row));
    },
    /** Whether there was one to remove. */
    remove: (createdSeq: bigint): boolean => remove.run(createdSeq).changes > 0,
    page: (limit: number, after: bigint): ReadonlyArray<UnseenEscrow> =>
      page.all(after, limit).map(unseenOf),
  };
};

/**
 * The one row of the table `ledger`: the mark, the time of the last snapshot, and how many rows of each kind there are.
 */
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
