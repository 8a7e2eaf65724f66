import { Database, type SQLQueryBindings } from "bun:sqlite";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { escrowIndexSqlite } from "../../adapters/sqlite/escrow-index.ts";
import { eventsOf } from "../../core/domain/index/settlement-event.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { SNAPSHOT_BATCH_ROWS } from "../../core/use-cases/index/sync/sync-snapshot.ts";
import { EscrowIndex, type IndexBatch } from "../../ports/escrow-index.ts";
import { walletOf, worldEscrow } from "../simulation/world-escrow.ts";
import { report, sizeOf, times } from "./support/report.ts";

// The service sets the same function when it starts.
provideSha256(sha256Bun);

const SIZES = sizeOf({ quick: [20_000], long: [10_000, 100_000, 1_000_000] });
/** A prime larger than any size. Its multiples visit all escrows of a world in a scattered order. */
const STEP = 2_654_435_761n;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));

/**
 * Batches like those of a sync: escrows in a scattered order, as nodes list them, and each batch sorted by time. Made
 * one at a time, so that a million rows are never held.
 */
function* batchesOf(rows: number): Generator<IndexBatch> {
  for (let first = 0; first < rows; first += SNAPSHOT_BATCH_ROWS) {
    const escrows = Array.from({ length: Math.min(SNAPSHOT_BATCH_ROWS, rows - first) }, (_, i) => ({
      row: worldEscrow(Number((BigInt(first + i) * STEP) % BigInt(rows))),
      slot: 1n,
    }));
    escrows.sort((a, b) => Number(a.row.createdAt - b.row.createdAt));
    const events = escrows.flatMap(({ row }) => eventsOf(row));
    yield { escrows, merchants: [], events, references: [], checkpoint: null };
  }
}

/** The longest delay of a timer while `work` runs. */
const stallDuring = async (work: () => Promise<void>): Promise<number> => {
  let longestMs = 0;
  let lastMs = performance.now();
  const tick = () => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  const timer = setInterval(tick, 1);
  await work();
  tick();
  clearInterval(timer);
  return longestMs;
};

/** Rows per second, counting only the time inside `work`. */
const rateOf = async (rows: number, work: (batch: IndexBatch) => Promise<void>) => {
  let ms = 0;
  let stallMs = 0;
  for (const batch of batchesOf(rows)) {
    const startMs = performance.now();
    stallMs = Math.max(stallMs, await stallDuring(() => work(batch)));
    ms += performance.now() - startMs;
  }
  return { rate: (rows / ms) * 1000, stallMs };
};

/** The rate of copying all tables of the index with bun:sqlite alone, in transactions of the same size. */
const rawRate = (path: string, copy: string): number => {
  const from = new Database(path, { readonly: true, safeIntegers: true });
  const to = new Database(copy, { safeIntegers: true });
  for (const pragma of [
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "cache_size = -65536",
    "wal_autocheckpoint = 16000",
  ])
    to.run(`PRAGMA ${pragma}`);
  const schema = from
    .query<{ sql: string }, []>("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
    .all();
  for (const { sql } of schema) to.run(sql);
  const table = (name: string, order: string) => {
    const columns = from
      .query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${name}')`)
      .all()
      .map((column) => column.name);
    const page = from.query<unknown, [number, number]>(
      `SELECT ${columns.join(", ")} FROM ${name} WHERE ${order} > ?1 AND ${order} <= ?2`,
    );
    const insert = to.prepare<null, Array<SQLQueryBindings>>(
      `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
    );
    const last = from.query<{ last: bigint }, []>(`SELECT max(${order}) AS last FROM ${name}`);
    return {
      rows: Number(last.get()?.last ?? 0n),
      between: (after: number, upTo: number) =>
        page.values(after, upTo) as Array<Array<SQLQueryBindings>>,
      insert,
    };
  };
  const escrows = table("escrow", "number");
  const events = table("event", "position");
  const batches = Math.ceil(escrows.rows / SNAPSHOT_BATCH_ROWS);
  let ms = 0;
  for (let batch = 0; batch < batches; batch++) {
    const share = (total: number, at: number) => Math.round((total * at) / batches);
    const rows = [escrows, events].map((each) => ({
      ...each,
      values: each.between(share(each.rows, batch), share(each.rows, batch + 1)),
    }));
    const startMs = performance.now();
    to.transaction(() => {
      for (const { insert, values } of rows) for (const row of values) insert.run(...row);
    })();
    ms += performance.now() - startMs;
  }
  to.close();
  from.close();
  return (escrows.rows / ms) * 1000;
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
  const raw = rawRate(path, `${path}.copy`);
  report({
    name: `first snapshot of ${rows} escrows into SQLite`,
    goal: ">= 60000/s",
    figure: first.rate,
    unit: "/s",
    ratio: `${times(first.rate, raw)} raw inserts of the rows`,
    pass: first.rate >= 60_000,
  });
  report({
    name: "the longest that the event loop stood still",
    goal: "",
    figure: first.stallMs,
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
