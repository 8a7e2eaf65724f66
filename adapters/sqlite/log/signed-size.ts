import type { Database } from "bun:sqlite";
import { hash32FromBytes, hash32ToBytes } from "../../../core/domain/hash32.ts";
import type { SignedSize } from "../../../ports/log-store.ts";
import { type StoreKind } from "../open-store.ts";
import { fromColumn, toColumn } from "../columns.ts";

/** Marks a file as what the log has signed: ASCII `SElg` (PRAGMA application_id). */
const APPLICATION_ID = 0x53_45_6c_67;

const MIGRATIONS: ReadonlyArray<string> = [
  `
  CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    genesis_hash TEXT NOT NULL,
    custody_program TEXT NOT NULL,
    attestor_program TEXT NOT NULL
  ) STRICT;

  CREATE TABLE log_signed (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    origin TEXT NOT NULL,
    size INTEGER NOT NULL,
    root BLOB NOT NULL CHECK (length(root) = 32)
  ) STRICT;
  `,
];

/** What makes a file the record of what a log has signed. */
export const SIGNED_KIND: StoreKind = { applicationId: APPLICATION_ID, migrations: MIGRATIONS };

type Row = { readonly origin: string; readonly size: bigint; readonly root: Uint8Array };

const isSame = (a: SignedSize | null, b: SignedSize | null): boolean =>
  a === null || b === null
    ? a === b
    : a.origin === b.origin && a.size === b.size && a.root === b.root;

/** The one row of the table `log_signed`. */
export const signedSize = (db: Database) => {
  const select = db.query<Row, []>("SELECT origin, size, root FROM log_signed");
  const put = db.query<null, [string, bigint, Uint8Array]>(
    "INSERT OR REPLACE INTO log_signed (one, origin, size, root) VALUES (1, ?1, ?2, ?3)",
  );
  const read = (): SignedSize | null => {
    const row = select.get();
    return (
      row && { origin: row.origin, size: fromColumn(row.size), root: hash32FromBytes(row.root) }
    );
  };
  const replace = db.transaction((before: SignedSize | null, next: SignedSize): boolean => {
    if (!isSame(read(), before)) return false;
    put.run(next.origin, toColumn(next.size), hash32ToBytes(next.root));
    return true;
  });
  return {
    read,
    /** Replaces `before`; false, with nothing changed, when something else is there. */
    replace: (before: SignedSize | null, next: SignedSize): boolean =>
      replace.immediate(before, next),
  };
};
