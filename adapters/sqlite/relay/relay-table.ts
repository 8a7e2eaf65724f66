import type { Database } from "bun:sqlite";
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

/** The relayed transactions of a log's file. */
export const relayTable = (db: Database) => {
  const insert = db.query<null, [string, Uint8Array, string, bigint, bigint, number]>(INSERT_RELAY);
  const update = db.query<null, [string, bigint, string | null, string]>(SETTLE_RELAY);
  const byName = db.query<RelayRow, [string]>("SELECT * FROM relay WHERE signature = ?1");
  const open = db.query<RelayRow, [number]>(
    "SELECT * FROM relay WHERE outcome IS NULL ORDER BY opened_at_ms LIMIT ?1",
  );
  return {
    /** Whether the entry is new. */
    open: (entry: RelayEntry): boolean => insert.run(...relayValues(entry)).changes > 0,
    settle: (signature: LedgerSignature, outcome: FinalOutcome): void => {
      update.run(...outcomeValues(signature, outcome));
    },
    find: (signature: LedgerSignature): RelayEntry | null => {
      const row = byName.get(signature);
      return row === null ? null : relayEntryOf(row);
    },
    unsettled: (limit: number): ReadonlyArray<RelayEntry> => open.all(limit).map(relayEntryOf),
  };
};
