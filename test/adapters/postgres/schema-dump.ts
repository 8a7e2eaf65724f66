import { SQL } from "bun";

/** Columns of which two runs of the same sync differ: a clock, and whether a transaction was found. */
const VARYING: Readonly<Record<string, ReadonlyArray<string>>> = {
  ledger: ["mark_at_ms", "pace_slot", "pace_at_ms", "snapshot_at_ms"],
  escrow: ["created_referenced", "settled_referenced"],
};
/** Who synced when, and the transactions that each run got to look for. */
const LEFT_OUT = ["sync_lease", "event_transaction"];

/**
 * Everything that the index's tables in a schema hold, but for the transactions of events, as one text: each table's
 * rows in the order of their text.
 */
export const dumpOfSchema = async (url: URL): Promise<string> => {
  const plain = new URL(url);
  plain.searchParams.delete("schema");
  const schema = String(url.searchParams.get("schema"));
  await using sql = new SQL(plain.href, { max: 1 });
  const tables = await sql<ReadonlyArray<{ name: string }>>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = ${schema} AND table_name <> ALL (${sql.array(LEFT_OUT, "TEXT")}) ORDER BY 1`;
  const lines: Array<string> = [];
  for (const { name } of tables) {
    const rows = await sql.unsafe<ReadonlyArray<{ row: string }>>(
      `SELECT row::text FROM (SELECT to_jsonb(t) - $1::text[] AS row FROM "${schema}"."${name}" t) AS rows ORDER BY 1`,
      [sql.array([...(VARYING[name] ?? [])], "TEXT")],
    );
    lines.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return lines.join("\n");
};
