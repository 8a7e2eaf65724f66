import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { FinalOutcome, RelayEntry } from "../../../core/domain/relay/relay-entry.ts";
import {
  INSERT_RELAY,
  outcomeValues,
  relayEntryOf,
  type RelayRow,
  relayValues,
  SETTLE_RELAY,
} from "../../sql/relay-row.ts";
import { type Queries, rowsOf } from "../queries.ts";

/** Records a transaction and says whether it is new. */
export const openRelay = async (sql: Queries, entry: RelayEntry): Promise<boolean> => {
  const inserted = await rowsOf(sql, `${INSERT_RELAY} RETURNING signature`, relayValues(entry));
  return inserted.length > 0;
};

/** Records an outcome, unless there is one. */
export const settleRelay = async (
  sql: Queries,
  signature: LedgerSignature,
  outcome: FinalOutcome,
): Promise<void> => {
  await rowsOf(sql, SETTLE_RELAY, outcomeValues(signature, outcome));
};

/** The entry of a signature, null for one that is not recorded. */
export const findRelay = async (
  sql: Queries,
  signature: LedgerSignature,
): Promise<RelayEntry | null> => {
  const [row] = await rowsOf<RelayRow>(sql, "SELECT * FROM relay WHERE signature = $1", [
    signature,
  ]);
  return row === undefined ? null : relayEntryOf(row);
};

/** Entries without an outcome, oldest first. */
export const unsettledRelays = async (
  sql: Queries,
  limit: number,
): Promise<ReadonlyArray<RelayEntry>> =>
  (
    await rowsOf<RelayRow>(
      sql,
      "SELECT * FROM relay WHERE outcome IS NULL ORDER BY opened_at_ms LIMIT $1",
      [limit],
    )
  ).map(relayEntryOf);
