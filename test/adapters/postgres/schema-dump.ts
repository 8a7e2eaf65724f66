import { SQL } from "bun";

/** Columns of which two runs of the same sync differ: a clock, and the transactions that each got to look for. */
const VARYING: Readonly<Record<string, ReadonlyArray<string>>> = {
  ledger: ["mark_at_ms"],
  event: ["signature", "slot"],
};
/** Who synced when, not what. */
const LEASE = "sync_lease";

/** Everything that the index's tables in a schema hold, as one text: each table's rows in the order of their text. */
export const dumpOfSchema = async (url: URL): Promise<string> => {
  const plain = new URL(url);
  plain.searchParams.delete("schema");
  const schema = String(url.searchParams.get("schema"));
  await using sql = new SQL(plain.href, { max: 1 });
  const tables = await sql<ReadonlyArray<{ name: string }>>`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = ${schema} AND table_name <> ${LEASE} ORDER BY 1`;
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
