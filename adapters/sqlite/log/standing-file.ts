import { IDENTITY_TYPES } from "../../sql/ledger-identity.ts";
import type { Database } from "bun:sqlite";
import type { StoreKind } from "../open-store.ts";

/** Marks a file as how a log stands: ASCII `SElg` (PRAGMA application_id). */
const APPLICATION_ID = 0x53_45_6c_67;

const SCHEMA = `
  CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ${IDENTITY_TYPES}
  ) STRICT;

  CREATE TABLE log_standing (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    text TEXT NOT NULL
  ) STRICT;
`;

/** The name of that file, in the log's folder. */
export const STANDING_FILE = "standing.sqlite";

/** What makes a file the record of how a log stands. */
export const STANDING_KIND: StoreKind = { applicationId: APPLICATION_ID, schema: SCHEMA };

/** The one row of the table `log_standing`. */
export const standingRow = (db: Database) => {
  const select = db.query<{ text: string }, []>("SELECT text FROM log_standing");
  const put = db.query<null, [string]>(
    "INSERT OR REPLACE INTO log_standing (one, text) VALUES (1, ?1)",
  );
  const read = (): string | null => select.get()?.text ?? null;
  const replace = db.transaction((before: string | null, next: string): boolean => {
    if (read() !== before) return false;
    put.run(next);
    return true;
  });
  return {
    read,
    /** Replaces `before`; false, with nothing changed, when something else is there. */
    replace: (before: string | null, next: string): boolean => replace.immediate(before, next),
  };
};
