import { Database } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { escrowIndexSqlite } from "../../adapters/sqlite/escrow-index.ts";
import { eventsOf } from "../../core/domain/settlement-event.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/local-deployment.ts";
import { EscrowIndex, type IndexBatch } from "../../ports/escrow-index.ts";
import { walletOf, worldEscrow } from "../simulation/world-escrow.ts";
import { report, sizeOf, times } from "./support/report.ts";

const SIZES = sizeOf({ quick: [20_000], long: [10_000, 100_000, 1_000_000] });
const BATCH = 1000;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

/** Batches as a sync makes them, made one at a time so that a million rows are never held. */
function* batchesOf(rows: number): Generator<IndexBatch> {
  for (let first = 0; first < rows; first += BATCH) {
    const escrows = Array.from({ length: Math.min(BATCH, rows - first) }, (_, i) => ({
      row: worldEscrow(first + i),
      slot: 1n,
    }));
    const events = escrows.flatMap(({ row }) => eventsOf(row));
    yield { escrows, merchants: [], events, references: [], mark: null };
  }
}

/** Rows a second, counting only the time inside `work`. */
const rateOf = async (rows: number, work: (batch: IndexBatch) => Promise<void> | void) => {
  let ms = 0;
  let longestMs = 0;
  for (const batch of batchesOf(rows)) {
    const startMs = performance.now();
    await work(batch);
    const tookMs = performance.now() - startMs;
    ms += tookMs;
    longestMs = Math.max(longestMs, tookMs);
  }
  return { rate: (rows / ms) * 1000, longestMs };
};

/** All of the index's tables and rows, copied by nothing but bun:sqlite, in transactions of the same size. */
const rawRate = (path: string, copy: string): number => {
  const from = new Database(path, { readonly: true, safeIntegers: true });
  const to = new Database(copy, { safeIntegers: true });
  for (const pragma of ["journal_mode = WAL", "synchronous = NORMAL", "cache_size = -65536"])
    to.run(`PRAGMA ${pragma}`);
  const schema = from
    .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    .all();
  for (const { sql } of schema) to.run(sql);
  const table = (name: string) => {
    const columns = from
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${name}')`)
      .all()
      .map((column) => column.name);
    const insert = to.prepare(
      `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    return { rows: from.query(`SELECT ${columns.join(", ")} FROM ${name}`).values(), insert };
  };
  const escrows = table("escrow");
  const events = table("event");
  let ms = 0;
  let at = 0;
  for (let first = 0; first < escrows.rows.length; first += BATCH) {
    const share = Math.ceil((events.rows.length * (first + BATCH)) / escrows.rows.length);
    const startMs = performance.now();
    to.transaction(() => {
      for (const row of escrows.rows.slice(first, first + BATCH))
        escrows.insert.run(...(row as never));
      for (; at < Math.min(share, events.rows.length); at++)
        events.insert.run(...((events.rows[at] ?? []) as never));
    })();
    ms += performance.now() - startMs;
  }
  to.close();
  from.close();
  return (escrows.rows.length / ms) * 1000;
};

for (const rows of SIZES) {
  const path = join(folder, `${rows}.sqlite`);
  const measure = EscrowIndex.use((index) =>
    Effect.promise(async () => {
      const apply = async (batch: IndexBatch) => void (await Effect.runPromise(index.apply(batch)));
      return { first: await rateOf(rows, apply), second: await rateOf(rows, apply) };
    }),
  );
  const { first, second } = await Effect.runPromise(
    Effect.provide(
      measure,
      escrowIndexSqlite({ path, genesisHash: walletOf("genesis"), deployment: LOCAL_DEPLOYMENT }),
    ),
  );
  // A million rows in one process beside their copy would measure the swap.
  const raw = rows > 100_000 ? null : rawRate(path, `${path}.copy`);
  report({
    name: `first snapshot of ${rows} escrows into SQLite`,
    goal: ">= 60000/s",
    figure: first.rate,
    unit: "/s",
    ratio: raw === null ? "" : `${times(first.rate, raw)} raw inserts of the rows`,
    pass: first.rate >= 60_000,
  });
  report({
    name: `its longest batch of ${BATCH}`,
    goal: "",
    figure: first.longestMs,
    unit: "ms",
    ratio: "",
    pass: null,
  });
  report({
    name: `second snapshot of the same ${rows}`,
    goal: ">= 3x the first",
    figure: second.rate,
    unit: "/s",
    ratio: `${times(second.rate, first.rate)} the first`,
    pass: second.rate / first.rate >= 3,
  });
}
rmSync(folder, { recursive: true });
