import { type Queries, rowsOf } from "../../queries.ts";
import { clearLedger } from "../ledger-row.ts";
import { createIndex, ESCROW_INDEXES, FILLED_TABLES } from "../index-schema.ts";

/** Removes every row and the mark. What the log keeps stays. */
const truncate = async (sql: Queries): Promise<void> => {
  await rowsOf(sql, `TRUNCATE ${FILLED_TABLES.join(", ")}`);
  await clearLedger(sql);
};

const dropIndexes = (sql: Queries) =>
  rowsOf(sql, `DROP INDEX IF EXISTS ${ESCROW_INDEXES.map(({ name }) => name).join(", ")}`);

/** An empty index for rows in any number and order, within a transaction that holds the term. */
export const emptyIndex = async (sql: Queries): Promise<void> => {
  await truncate(sql);
  for (const index of ESCROW_INDEXES) await rowsOf(sql, createIndex(index));
};

/** An empty index for a build, without the indexes that it makes at its end. */
export const emptyForBuild = async (sql: Queries): Promise<void> => {
  await truncate(sql);
  await dropIndexes(sql);
};

/** Removes what a build has copied and the indexes that it has made of it. */
export const emptyEscrows = async (sql: Queries): Promise<void> => {
  await rowsOf(sql, "TRUNCATE escrow, unseen_escrow");
  await dropIndexes(sql);
};
