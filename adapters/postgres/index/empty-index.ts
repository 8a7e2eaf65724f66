import { type Queries, rowsOf } from "../queries.ts";
import { createIndex, ESCROW_INDEXES, FILLED_TABLES } from "./index-schema.ts";

/** Removes every row and the mark, and says which build comes next, if one does. What the log keeps stays. */
const truncate = async (sql: Queries, building: string | null): Promise<void> => {
  await rowsOf(sql, `TRUNCATE ${FILLED_TABLES.join(", ")}`);
  await rowsOf(
    sql,
    `UPDATE ledger SET escrows = 0, unseen = 0, merchants = 0, building = $1, mark_count = NULL, mark_head = NULL,
       mark_slot = NULL, mark_ledger_time = NULL, mark_at_ms = NULL`,
    [building],
  );
};

/** An empty index for rows in any number and order, within a transaction that holds the term. */
export const emptyIndex = async (sql: Queries): Promise<void> => {
  await truncate(sql, null);
  for (const index of ESCROW_INDEXES) await rowsOf(sql, createIndex(index));
};

/** An empty index for a build, without the indexes that it makes at its end. */
export const emptyForBuild = async (sql: Queries, building: string): Promise<void> => {
  await truncate(sql, building);
  await rowsOf(sql, `DROP INDEX IF EXISTS ${ESCROW_INDEXES.map(({ name }) => name).join(", ")}`);
};
