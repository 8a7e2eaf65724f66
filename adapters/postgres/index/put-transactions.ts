import { ledgerSignatureToBytes } from "../../../core/domain/ledger/signature.ts";
import type { EventReference } from "../../../core/domain/index/settlement-event.ts";
import {
  arraysOf,
  columnsOf,
  inputOf,
  namesOf,
  portionsOf,
  type Queries,
  rowsOf,
} from "../queries.ts";

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
