import { Effect } from "effect";
import type { IndexedEscrow } from "../../../core/domain/index/indexed-escrow.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../ports/index/index-writer.ts";
import { labelled, worldEscrow } from "../../simulation/world-escrow.ts";

/** Escrows of one call, as a sync adds and applies them. */
const BATCH_ROWS = 10_000;
/** A prime larger than any size. Its multiples visit all escrows of a world in a scattered order. */
const STEP = 2_654_435_761n;
const run = Effect.runPromise;

/** The `number`th row of a world, or that of another escrow. */
export const rowOf = (number: number, escrow = worldEscrow(number)): IndexedEscrow => {
  const { address, state, createdSeq, settledSeq } = escrow;
  return {
    address,
    state,
    createdSeq,
    settledSeq,
    account: encodeEscrowAccount(escrow),
    escrow,
    pendingHash: labelled(`pending ${number}`),
    settledHash: settledSeq === null ? null : labelled(`settled ${number}`),
  };
};

/** Batches of rows, made one at a time, so that a million are never held. */
function* batchesOf(
  rows: number,
  place: (at: number) => number,
  rowAt: (number: number) => IndexedEscrow = rowOf,
): Generator<ReadonlyArray<IndexedEscrow>> {
  for (let first = 0; first < rows; first += BATCH_ROWS)
    yield Array.from({ length: Math.min(BATCH_ROWS, rows - first) }, (_, at) =>
      rowAt(place(first + at)),
    );
}

const markOf = (count: number) => ({
  count: BigInt(count),
  frontier: new Uint8Array(1280),
  slot: 1n,
  ledgerTime: 1n,
  atMs: 1,
});

/** Adds up the wall and CPU time inside `work`, and notes the most memory seen between the calls. */
export const stopwatch = () => {
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

/** What a first snapshot costs: its rows come in a scattered order, as nodes list them. */
export const built = (rows: number, rowAt?: (number: number) => IndexedEscrow) =>
  Effect.scoped(
    Effect.gen(function* () {
      const build = yield* (yield* IndexWriter).build;
      const [adding, showing, finishing] = [stopwatch(), stopwatch(), stopwatch()];
      yield* Effect.promise(async () => {
        const scattered = (at: number) => Number((BigInt(at) * STEP) % BigInt(rows));
        for (const escrows of batchesOf(rows, scattered, rowAt))
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

/** What the same rows cost in the same order with indexes kept up to date. */
export const applied = (rows: number) =>
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

/**
 * How many pages of 50 anywhere a second gives and microseconds of one, over `count` pages, with one more row as the
 * API reads them.
 */
export const pages = (rows: number, count: number) =>
  Effect.gen(function* () {
    const { escrows } = yield* IndexReader;
    const took: Array<number> = [];
    yield* Effect.promise(async () => {
      for (let page = -count; page < count; page++) {
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
