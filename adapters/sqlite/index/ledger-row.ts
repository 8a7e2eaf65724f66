import type { Database } from "bun:sqlite";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { SyncMark } from "../../../core/domain/index/sync-mark.ts";
import type { IndexSummary } from "../../../ports/index/index-reader.ts";
import { fromColumn, toColumn } from "../columns.ts";

type Row = {
  readonly escrows: bigint;
  readonly unseen: bigint;
  readonly merchants: bigint;
  readonly mark_count: bigint | null;
  readonly mark_head: Uint8Array | null;
  readonly mark_slot: bigint | null;
  readonly mark_ledger_time: bigint | null;
  readonly mark_at_ms: bigint | null;
  readonly pace_slot: bigint | null;
  readonly pace_at_ms: bigint | null;
  readonly snapshot_at_ms: bigint | null;
};

/** How many rows of each kind a transaction has added; negative for removed ones. */
export type CountChanges = { escrows: number; unseen: number; merchants: number };

const markOf = (row: Row): SyncMark | null =>
  row.mark_count === null ||
  row.mark_head === null ||
  row.mark_slot === null ||
  row.mark_ledger_time === null ||
  row.mark_at_ms === null
    ? null
    : {
        count: fromColumn(row.mark_count),
        head: hash32FromBytes(row.mark_head),
        slot: fromColumn(row.mark_slot),
        ledgerTime: row.mark_ledger_time,
        atMs: Number(row.mark_at_ms),
        ...(row.pace_slot === null || row.pace_at_ms === null
          ? {}
          : { paceFrom: { slot: fromColumn(row.pace_slot), atMs: Number(row.pace_at_ms) } }),
      };

/** The one row of the table `ledger`: the mark, the time of the last snapshot, and how many rows of each kind there are. */
export const ledgerRow = (db: Database) => {
  const select = db.query<Row, []>(
    `SELECT escrows, unseen, merchants, mark_count, mark_head, mark_slot, mark_ledger_time, mark_at_ms,
       pace_slot, pace_at_ms, snapshot_at_ms
     FROM ledger`,
  );
  const count = db.query<null, [number, number, number]>(
    "UPDATE ledger SET escrows = escrows + ?1, unseen = unseen + ?2, merchants = merchants + ?3",
  );
  const mark = db.query<
    null,
    [bigint, Uint8Array, bigint, bigint, number, bigint | null, number | null]
  >(
    `UPDATE ledger SET mark_count = ?1, mark_head = ?2, mark_slot = ?3, mark_ledger_time = ?4,
       mark_at_ms = ?5, pace_slot = ?6, pace_at_ms = ?7`,
  );
  const clear = db.query<null, []>(
    `UPDATE ledger SET escrows = 0, unseen = 0, merchants = 0, mark_count = NULL, mark_head = NULL,
       mark_slot = NULL, mark_ledger_time = NULL, mark_at_ms = NULL, pace_slot = NULL, pace_at_ms = NULL, snapshot_at_ms = NULL`,
  );
  const snapshot = db.query<null, [number]>("UPDATE ledger SET snapshot_at_ms = ?1");
  return {
    read: (): Omit<IndexSummary, "revision"> => {
      const row = select.get();
      if (row === null) throw new Error("a store that is open was claimed");
      return {
        escrows: Number(row.escrows),
        unseen: Number(row.unseen),
        merchants: Number(row.merchants),
        mark: markOf(row),
        snapshotAtMs: row.snapshot_at_ms === null ? null : Number(row.snapshot_at_ms),
      };
    },
    count: ({ escrows, unseen, merchants }: CountChanges): void => {
      count.run(escrows, unseen, merchants);
    },
    mark: ({ count, head, slot, ledgerTime, atMs, paceFrom }: SyncMark): void => {
      mark.run(
        toColumn(count),
        hash32ToBytes(head),
        toColumn(slot),
        ledgerTime,
        Math.trunc(atMs),
        paceFrom === undefined ? null : toColumn(paceFrom.slot),
        paceFrom === undefined ? null : Math.trunc(paceFrom.atMs),
      );
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
