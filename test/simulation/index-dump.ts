import { Database } from "bun:sqlite";

/** Columns that depend on the service's own clock, the only difference between two runs of the same sync. */
const OWN_CLOCK = new Set(["mark_at_ms", "pace_slot", "pace_at_ms", "snapshot_at_ms"]);

/** The table of events' transactions, which later syncs fill in. */
const TRANSACTIONS = "event_transaction";

/**
 * Everything in a SQLite file as text: each table's rows in the order of their first columns, bytes as hex. Leaves out
 * the transactions of events unless asked for. @throws Error unless SQLite finds the file intact.
 */
export const dumpOfIndex = (path: string, options = { references: false }): string => {
  const db = new Database(path, { readonly: true, safeIntegers: true });
  try {
    const check = db.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
    if (check[0]?.integrity_check !== "ok") throw new Error(`${path}: ${JSON.stringify(check)}`);
    const tables = db
      .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1")
      .all();
    const plain = (name: string, value: unknown) => {
      if (OWN_CLOCK.has(name)) return null;
      if (typeof value === "bigint") return value.toString();
      return value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
    };
    const lines: Array<string> = [];
    for (const { name } of tables) {
      if (name === TRANSACTIONS && !options.references) continue;
      const rows = db.query<Record<string, unknown>, []>(`SELECT * FROM ${name} ORDER BY 1, 2`);
      for (const row of rows.iterate()) lines.push(`${name} ${JSON.stringify(row, plain)}`);
    }
    return lines.join("\n");
  } finally {
    db.close();
  }
};
