import { describe, test } from "bun:test";
import { LONG_MS } from "../../chaos/support/chaos-run.ts";
import { expectWholeBatches } from "../../chaos/support/expect-whole-batches.ts";
import { killSyncs } from "../../chaos/support/kills/kill-syncs.ts";
import { INDEX_SYNC, openIndex, WORLD_LEDGER } from "../../simulation/index-of-node.ts";
import { LEADER_KILLS, freshSchema, indexAt } from "./test-database.ts";
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
const dumpOfSchema = async (url: URL): Promise<string> => {
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

describe("a replica killed while it syncs", () => {
  test(
    "killed at any moment of a sync, a replica leaves a store that ends as if it had never been",
    () =>
      killSyncs({
        script: `${import.meta.dir}/sync-until-killed.ts`,
        kills: LEADER_KILLS,
        mostKillsASync: 4,
        // Each process first waits until the lease of the one before it has expired.
        atOnce: 3,
        newStore: () => freshSchema().href,
        dumpOf: (store) => dumpOfSchema(new URL(store)),
        expectWhole: async (store, moment, when) => {
          if (moment !== "in a batch") return;
          const index = await openIndex(
            { url: "http://127.0.0.1:9" },
            indexAt(new URL(store), WORLD_LEDGER),
            INDEX_SYNC,
          );
          await expectWholeBatches(index, when);
          await index.close();
        },
      }),
    LONG_MS,
  );
});
