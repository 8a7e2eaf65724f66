import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { SyncMark } from "../../../core/domain/index/sync-mark.ts";
import type { IndexSummary } from "../../../ports/index/index-reader.ts";
import { type Queries, rowsOf } from "../queries.ts";

type LedgerRow = {
  readonly escrows: bigint;
  readonly unseen: bigint;
  readonly merchants: bigint;
  readonly building: string | null;
  readonly mark_count: bigint | null;
  readonly mark_head: Uint8Array | null;
  readonly mark_slot: string;
  readonly mark_ledger_time: bigint;
  readonly mark_at_ms: bigint;
  readonly pace_slot: string | null;
  readonly pace_at_ms: bigint | null;
  readonly snapshot_at_ms: bigint | null;
};

const markOf = (row: LedgerRow): SyncMark | null =>
  row.mark_count === null || row.mark_head === null
    ? null
    : {
        count: row.mark_count,
        head: hash32FromBytes(row.mark_head),
        slot: BigInt(row.mark_slot),
        ledgerTime: row.mark_ledger_time,
        atMs: Number(row.mark_at_ms),
        ...(row.pace_slot === null || row.pace_at_ms === null
          ? {}
          : { paceFrom: { slot: BigInt(row.pace_slot), atMs: Number(row.pace_at_ms) } }),
      };

const rowIn = async (sql: Queries, lock = ""): Promise<LedgerRow> => {
  const [row] = await rowsOf<LedgerRow>(sql, `SELECT * FROM ledger ${lock}`);
  if (row === undefined) throw new Error("the store was claimed for its ledger when it was opened");
  return row;
};

/** What the index counts. The revision is null: asking for it costs a round trip, which is most of what a page costs. */
export const summaryIn = async (sql: Queries): Promise<IndexSummary> => {
  const row = await rowIn(sql);
  return {
    escrows: Number(row.escrows),
    unseen: Number(row.unseen),
    merchants: Number(row.merchants),
    mark: markOf(row),
    snapshotAtMs: row.snapshot_at_ms === null ? null : Number(row.snapshot_at_ms),
    revision: null,
  };
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
    `UPDATE ledger SET building = NULL, mark_count = $1, mark_head = $2, mark_slot = $3, mark_ledger_time = $4, mark_at_ms = $5,
       pace_slot = $6, pace_at_ms = $7`,
    [
      mark.count,
      hash32ToBytes(mark.head),
      mark.slot,
      mark.ledgerTime,
      Math.trunc(mark.atMs),
      mark.paceFrom?.slot ?? null,
      mark.paceFrom === undefined ? null : Math.trunc(mark.paceFrom.atMs),
    ],
  );
};

/** Sets when the last snapshot was complete, unix milliseconds. */
export const putSnapshotTime = async (sql: Queries, atMs: number): Promise<void> => {
  await rowsOf(sql, "UPDATE ledger SET snapshot_at_ms = $1", [Math.trunc(atMs)]);
};

/** Sets every count to zero and removes the mark, the time of the last snapshot and the build's name. */
export const clearLedger = async (sql: Queries): Promise<void> => {
  await rowsOf(
    sql,
    `UPDATE ledger SET escrows = 0, unseen = 0, merchants = 0, building = NULL, mark_count = NULL, mark_head = NULL,
       mark_slot = NULL, mark_ledger_time = NULL, mark_at_ms = NULL, pace_slot = NULL, pace_at_ms = NULL, snapshot_at_ms = NULL`,
  );
};

/** Says which build is on its way. */
export const nameBuild = async (sql: Queries, building: string): Promise<void> => {
  await rowsOf(sql, "UPDATE ledger SET building = $1", [building]);
};

/** Adds to what the index counts. */
export const addCounts = async (
  sql: Queries,
  counts: Readonly<Record<"escrows" | "unseen" | "merchants", number>>,
): Promise<void> => {
  await rowsOf(
    sql,
    "UPDATE ledger SET escrows = escrows + $1, unseen = unseen + $2, merchants = merchants + $3",
    [counts.escrows, counts.unseen, counts.merchants],
  );
};
