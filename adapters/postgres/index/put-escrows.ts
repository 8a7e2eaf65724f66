import type { IndexedEscrow, UnseenEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import type { EventReference } from "../../../core/domain/index/settlement-event.ts";
import { ledgerSignatureToBytes } from "../../../core/domain/ledger/signature.ts";
import { encodeBody } from "../../sql/escrow-body.ts";
import { UNSEEN_TYPES, unseenOf, type UnseenRow, unseenValues } from "../../sql/index-rows.ts";
import {
  arraysOf,
  type Column,
  columnsOf,
  inputOf,
  int8,
  namesOf,
  portionsOf,
  type Queries,
  rowsOf,
  type Values,
} from "../queries.ts";
import { ESCROW_COLUMNS, escrowValues, shown } from "./escrow-pages.ts";
import { TALLIED, tallyParts } from "./tallies.ts";

/** What an unseen escrow's row binds, in the order of `unseenValues`. */
export const UNSEEN_COLUMNS = columnsOf(UNSEEN_TYPES);

/** The statement for unseen escrows above a number, at most as many as asked for. */
export const UNSEEN_PAGE = shown(
  "SELECT * FROM unseen_escrow WHERE created_seq > $1 ORDER BY created_seq LIMIT $2",
  "created_seq",
);

/** At most `limit` unseen escrows above a number, ascending. */
export const unseenAfter = async (
  sql: Queries,
  limit: number,
  after: bigint,
): Promise<ReadonlyArray<UnseenEscrow>> =>
  (await rowsOf<UnseenRow>(sql, UNSEEN_PAGE, [int8(after), limit])).map(unseenOf);

/** Takes every column from the row that was to be inserted. */
const replacing = (columns: ReadonlyArray<Column>, more: ReadonlyArray<string> = []): string =>
  [...columns.map(({ name }) => name).slice(1), ...more]
    .map((name) => `${name} = excluded.${name}`)
    .join(", ");

const isReferenced = (seq: string): string =>
  `EXISTS (SELECT FROM event_transaction AS known WHERE known.position = input.${seq})`;

// All parts of a statement see the tables as they were before it.
const PUT_ESCROWS = `
  WITH input AS (SELECT * FROM ${inputOf(ESCROW_COLUMNS)}),
    before AS (SELECT ${TALLIED} FROM escrow WHERE created_seq IN (SELECT created_seq FROM input)),
    other AS (DELETE FROM unseen_escrow WHERE created_seq IN (SELECT created_seq FROM input) RETURNING 1),
    put AS (
      INSERT INTO escrow (${namesOf(ESCROW_COLUMNS)}, created_referenced, settled_referenced)
      SELECT ${namesOf(ESCROW_COLUMNS)}, ${isReferenced("created_seq")}, ${isReferenced("settled_seq")} FROM input
      ON CONFLICT (created_seq) DO UPDATE SET
        ${replacing(ESCROW_COLUMNS, ["created_referenced", "settled_referenced"])}
    ),
    ${tallyParts("input", "before")}
  SELECT (SELECT count(*) FROM input) - (SELECT count(*) FROM before) AS added, (SELECT count(*) FROM other) AS removed`;

const PUT_UNSEEN = `
  WITH input AS (SELECT * FROM ${inputOf(UNSEEN_COLUMNS)}),
    before AS (SELECT FROM unseen_escrow WHERE created_seq IN (SELECT created_seq FROM input)),
    other AS (
      DELETE FROM escrow WHERE created_seq IN (SELECT created_seq FROM input)
      RETURNING ${TALLIED}
    ),
    put AS (
      INSERT INTO unseen_escrow (${namesOf(UNSEEN_COLUMNS)}) SELECT ${namesOf(UNSEEN_COLUMNS)} FROM input
      ON CONFLICT (created_seq) DO UPDATE SET ${replacing(UNSEEN_COLUMNS)}
    ),
    ${tallyParts(null, "other")}
  SELECT (SELECT count(*) FROM input) - (SELECT count(*) FROM before) AS added, (SELECT count(*) FROM other) AS removed`;

/** How many rows came into a table, and how many the other table of escrows lost to it. */
type Moved = { readonly added: number; readonly removed: number };

const put = async (
  sql: Queries,
  text: string,
  columns: ReadonlyArray<Column>,
  rows: ReadonlyArray<Values>,
): Promise<Moved> => {
  let [added, removed] = [0, 0];
  for (const portion of portionsOf(rows)) {
    const [moved] = await rowsOf<{ added: bigint; removed: bigint }>(
      sql,
      text,
      arraysOf(sql, columns, portion),
    );
    added += Number(moved?.added);
    removed += Number(moved?.removed);
  }
  return { added, removed };
};

/** Puts escrows, in place of the rows with the same numbers, unseen or not. */
export const putEscrows = (sql: Queries, rows: ReadonlyArray<IndexedEscrow>): Promise<Moved> =>
  put(
    sql,
    PUT_ESCROWS,
    ESCROW_COLUMNS,
    rows.map((row) => escrowValues(encodeBody(row).slice())),
  );

/** Puts unseen escrows, in place of the rows with the same numbers, unseen or not. */
export const putUnseen = (sql: Queries, rows: ReadonlyArray<UnseenEscrow>): Promise<Moved> =>
  put(sql, PUT_UNSEEN, UNSEEN_COLUMNS, rows.map(unseenValues));

const COLUMNS = columnsOf({ position: "INT8", signature: "BYTEA", slot: "NUMERIC" });

const noted = (kind: string): string =>
  `UPDATE escrow SET ${kind}_referenced = true
   WHERE ${kind}_seq = ANY ($1::int8[]) AND NOT ${kind}_referenced`;

/** Notes the transactions of events; of several for one event the first counts, and one that is known stays. */
export const putTransactions = async (
  sql: Queries,
  transactions: ReadonlyArray<EventReference>,
): Promise<void> => {
  for (const portion of portionsOf(transactions)) {
    await rowsOf(
      sql,
      `INSERT INTO event_transaction (${namesOf(COLUMNS)})
       SELECT ${namesOf(COLUMNS)} FROM ${inputOf(COLUMNS)} ON CONFLICT (position) DO NOTHING`,
      arraysOf(
        sql,
        COLUMNS,
        portion.map(({ position, signature, slot }) => [
          position,
          ledgerSignatureToBytes(signature),
          slot,
        ]),
      ),
    );
    const positions = portion.map(({ position }) => position);
    for (const kind of ["created", "settled"])
      await rowsOf(sql, noted(kind), [sql.array(positions, "INT8")]);
  }
};
