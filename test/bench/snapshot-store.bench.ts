import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Effect } from "effect";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { indexSqlite } from "../../adapters/sqlite/index-store.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import type { IndexedEscrow } from "../../core/domain/index/indexed-escrow.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { IndexReader } from "../../ports/index-reader.ts";
import { IndexWriter } from "../../ports/index-writer.ts";
import { labelled, walletOf, worldEscrow } from "../simulation/world-escrow.ts";
import { report, sizeOf, times } from "./support/report.ts";

// The service sets the same function when it starts.
provideSha256(sha256Bun);

const { values } = parseArgs({ options: { rows: { type: "string" } } });
const SIZES =
  values.rows === undefined
    ? sizeOf({ quick: [20_000], long: [100_000] })
    : values.rows.split(",").map(Number);
/** Escrows of one call, as a sync adds and applies them. */
const BATCH_ROWS = 10_000;
/** The yardstick is measured over at most so many rows. Its rate falls with the size, which favours it. */
const APPLIED_ROWS = 200_000;
const PAGES = 4000;
/** A prime larger than any size. Its multiples visit all escrows of a world in a scattered order. */
const STEP = 2_654_435_761n;
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
const run = Effect.runPromise;

const rowOf = (number: number): IndexedEscrow => {
  const escrow = worldEscrow(number);
  return {
    escrow,
    pendingHash: labelled(`pending ${number}`),
    settledHash: escrow.settledSeq === null ? null : labelled(`settled ${number}`),
  };
};

/** Batches of rows, made one at a time, so that a million are never held. */
function* batchesOf(
  rows: number,
  place: (at: number) => number,
): Generator<ReadonlyArray<IndexedEscrow>> {
  for (let first = 0; first < rows; first += BATCH_ROWS)
    yield Array.from({ length: Math.min(BATCH_ROWS, rows - first) }, (_, at) =>
      rowOf(place(first + at)),
    );
}

const markOf = (count: number) => ({
  count: BigInt(count),
  head: hash32FromBytes(new Uint8Array(32)),
  slot: 1n,
  ledgerTime: 1n,
  atMs: 1,
});

/** Adds up the wall and CPU time inside `work`, and notes the most memory seen between the calls. */
const stopwatch = () => {
  const total = { ms: 0, cpuMs: 0, rssMiB: 0 };
  const time = async (work: () => Promise<void>): Promise<void> => {
    const [startMs, cpu] = [performance.now(), process.cpuUsage()];
    await work();
    const { user, system } = process.cpuUsage(cpu);
    total.ms += performance.now() - startMs;
    total.cpuMs += (user + system) / 1000;
    total.rssMiB = Math.max(total.rssMiB, process.memoryUsage.rss() / 1024 / 1024);
  };
  return { total, time };
};

const storeOf = (name: string) =>
  indexSqlite({
    path: join(folder, name, "index.sqlite"),
    logFolder: join(folder, name, "log"),
    genesisHash: walletOf("genesis"),
    deployment: LOCAL_DEPLOYMENT,
  });

/** A first snapshot: rows in a scattered order, as nodes list them. */
const built = (rows: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const build = yield* (yield* IndexWriter).build;
      const [adding, showing, finishing] = [stopwatch(), stopwatch(), stopwatch()];
      yield* Effect.promise(async () => {
        for (const escrows of batchesOf(rows, (at) => Number((BigInt(at) * STEP) % BigInt(rows))))
          await adding.time(() => run(build.add({ escrows, unseen: [], merchants: [] })));
        await showing.time(() => run(build.leaves(() => undefined)));
        await finishing.time(() => run(build.finish(markOf(2 * rows))));
      });
      const parts = [adding.total, showing.total, finishing.total];
      const sum = (of: (part: (typeof parts)[number]) => number) =>
        parts.reduce((total, part) => total + of(part), 0);
      return {
        ms: sum(({ ms }) => ms),
        cpuMs: sum(({ cpuMs }) => cpuMs),
        rssMiB: Math.max(...parts.map(({ rssMiB }) => rssMiB)),
      };
    }),
  );

/** The same rows in the order of their numbers, with indexes kept up to date: the kindest order for it. */
const applied = (rows: number) =>
  Effect.gen(function* () {
    const writer = yield* IndexWriter;
    const applying = stopwatch();
    let from: bigint | null = null;
    yield* Effect.promise(async () => {
      for (const escrows of batchesOf(rows, (at) => Number((BigInt(at) * STEP) % BigInt(rows)))) {
        const mark = markOf(Number(from ?? 0n) + escrows.length);
        const changes = { from, escrows, unseen: [], merchants: [], transactions: [], mark };
        await applying.time(() => run(writer.apply(changes)));
        from = mark.count;
      }
    });
    return applying.total;
  });

/** Microseconds of pages of 50 anywhere, with one more row as the API reads them. */
const pages = (rows: number) =>
  Effect.gen(function* () {
    const { escrows } = yield* IndexReader;
    const took: Array<number> = [];
    yield* Effect.promise(async () => {
      for (let page = -PAGES; page < PAGES; page++) {
        const before = BigInt(2 * (60 + ((Math.abs(page) * 7919) % Math.max(1, rows - 60))));
        const startMs = performance.now();
        await run(escrows({}, 51, before));
        if (page >= 0) took.push((performance.now() - startMs) * 1000);
      }
    });
    const sorted = took.toSorted((a, b) => a - b);
    const quantile = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
    const mean = took.reduce((total, us) => total + us, 0) / took.length;
    return { perSecond: 1_000_000 / mean, p50Us: quantile(0.5), p99Us: quantile(0.99) };
  });

const perRow = new Map<number, number>();
for (const rows of SIZES) {
  const yardstickRows = Math.min(rows, APPLIED_ROWS);
  const yardstick = await run(Effect.provide(applied(yardstickRows), storeOf(`${rows}-applied`)));
  const { build, read } = await run(
    Effect.provide(
      Effect.gen(function* () {
        return { build: yield* built(rows), read: yield* pages(rows) };
      }),
      storeOf(`${rows}`),
    ),
  );
  const rate = (rows / build.ms) * 1000;
  const appliedRate = (yardstickRows / yardstick.ms) * 1000;
  report({
    name: `first snapshot of ${rows} escrows into SQLite`,
    goal: ">= 100000/s",
    figure: rate,
    unit: "/s",
    ratio: `${times(rate, appliedRate)} the rows applied`,
    pass: rate >= 100_000 && rate / appliedRate >= 3.5,
  });
  report({
    name: `its CPU time, ${rows} escrows`,
    goal: "",
    figure: (build.cpuMs * 1000) / rows,
    unit: "us/row",
    ratio: `${times((build.cpuMs * yardstickRows) / rows, yardstick.cpuMs)} the rows applied`,
    pass: null,
  });
  report({
    name: `its memory, ${rows} escrows`,
    goal: "< 600 MiB",
    figure: build.rssMiB,
    unit: "MiB",
    ratio: "",
    pass: build.rssMiB < 600,
  });
  report({
    name: `any page of 50 of ${rows} at the port`,
    goal: ">= 5000/s",
    figure: read.perSecond,
    unit: "/s",
    ratio: `p50 ${read.p50Us.toFixed(0)} us, p99 ${read.p99Us.toFixed(0)} us`,
    pass: read.perSecond >= 5000,
  });
  perRow.set(rows, build.cpuMs / rows);
}
const [smallest, largest] = [Math.min(...SIZES), Math.max(...SIZES)];
if (smallest !== largest) {
  const growth = (perRow.get(largest) ?? 0) / (perRow.get(smallest) ?? 1);
  report({
    name: `CPU time of a row, ${largest} escrows beside ${smallest}`,
    goal: "<= 1.3x",
    figure: growth,
    unit: "x",
    ratio: "",
    pass: growth <= 1.3,
  });
}
rmSync(folder, { recursive: true });
