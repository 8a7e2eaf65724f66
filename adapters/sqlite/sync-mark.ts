import type { Database } from "bun:sqlite";
import type { SyncCheckpoint } from "../../ports/escrow-index.ts";

type Row = {
  readonly mark_slot: bigint | null;
  readonly mark_ledger_time: bigint | null;
  readonly mark_at_ms: bigint | null;
};

/** Up to where the store is complete; kept in the one row of the table `ledger`. */
export const syncMark = (db: Database) => {
  const write = db.query<null, [bigint, bigint, bigint]>(
    `UPDATE ledger SET mark_slot = ?1, mark_ledger_time = ?2, mark_at_ms = ?3
     WHERE mark_slot IS NULL OR mark_slot <= ?1`,
  );
  const read = db.query<Row, []>("SELECT mark_slot, mark_ledger_time, mark_at_ms FROM ledger");
  return {
    /** Moves the mark forward; a mark of an older slot changes nothing. */
    write: ({ slot, ledgerTime, atMs }: SyncCheckpoint): void => {
      write.run(slot, ledgerTime, BigInt(Math.trunc(atMs)));
    },
    /** Null before the first. */
    read: (): SyncCheckpoint | null => {
      const row = read.get();
      if (row === null || row.mark_slot === null) return null;
      if (row.mark_ledger_time === null || row.mark_at_ms === null) return null;
      return {
        slot: row.mark_slot,
        ledgerTime: row.mark_ledger_time,
        atMs: Number(row.mark_at_ms),
      };
    },
  };
};
