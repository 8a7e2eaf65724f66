import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Effect, Exit, Layer } from "effect";
import fc from "fast-check";
import { ESCROW_INDEXES } from "../../../adapters/postgres/index/index-schema.ts";
import { syncLeasePostgres } from "../../../adapters/postgres/sync-lease.ts";
import type { IndexBuild } from "../../../ports/index/index-writer.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { SyncEpoch, SyncLease } from "../../../ports/index/sync-lease.ts";
import { changesOf } from "../../arbitraries/index-history.ts";
import { type Index, withIndexOf } from "../../contracts/fresh-index.ts";
import { everything } from "../../contracts/index-content.ts";
import { worldMerchants } from "../../simulation/world-escrow.ts";
import { numberedBatch, numberedMark, numberedRows } from "../sqlite/numbered-batch.ts";
import { applyNumbered, uninterrupted } from "../sqlite/test-store.ts";
import { aside, freshSchema, indexAt, storeAt, withStore } from "./test-database.ts";
import { runSeed } from "../../arbitraries/seeded-random.ts";

const LAST = 40;
const rowsOf = (number: number) => ({ escrows: numberedRows(number), unseen: [], merchants: [] });
const observed = worldMerchants().map((row) => ({ row, slot: 1n }));

/** The indexes of escrows that a store has. */
const indexesOf = async (url: URL) => {
  const [rows = []] = await aside(
    url,
    `SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() ORDER BY 1`,
  );
  const names = new Set(ESCROW_INDEXES.map(({ name }) => name));
  return rows
    .map((row) => (row as { indexname: string }).indexname)
    .filter((name) => names.has(name));
};
const allIndexes = ESCROW_INDEXES.map(({ name }) => name).sort();

/** Runs a program with an index and the lease of a replica of its own. */
const asReplica = <A, E>(
  url: URL,
  program: (index: Index, lease: SyncLease["Service"]) => Effect.Effect<A, E>,
) => {
  const lease = Layer.provide(syncLeasePostgres(), storeAt(url));
  return Effect.provide(
    SyncLease.use((held) => withIndexOf(indexAt(url), (index) => program(index, held))),
    lease,
  );
};

const builtOf = ({ writer }: Index) =>
  Effect.scoped(
    Effect.gen(function* () {
      const build = yield* writer.build;
      for (let number = LAST; number > 0; number--) yield* build.add(rowsOf(number));
      yield* build.finish(numberedMark(LAST));
    }),
  );

describe("a build", () => {
  test("killed at any moment, it holds nothing or everything, and the next build or batch ends where no kill would", async () => {
    const url = freshSchema();
    const empty = await Effect.runPromise(withStore(url, everything));
    const seed = runSeed();
    // The last kills come while the tables are filled and their indexes are made.
    const aims = fc
      .sample(fc.integer({ min: 1, max: LAST }), { seed, numRuns: 2 })
      .map((acks) => ({ acks, delayMs: 0 }))
      .concat([0, 40, 80, 160, 320].map((delayMs) => ({ acks: LAST, delayMs })));
    for (const { acks, delayMs } of aims) {
      const child = Bun.spawn(
        [process.execPath, join(import.meta.dir, "build-until-killed.ts"), url.href, String(LAST)],
        { stdin: "ignore", stdout: "pipe", stderr: "inherit" },
      );
      let heard = 0;
      for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
        heard += text.split("\n").length - 1;
        if (heard >= acks) setTimeout(() => child.kill("SIGKILL"), delayMs);
      }
      await child.exited;
      const rows = await Effect.runPromise(withStore(url, everything));
      expect(rows, `seed ${seed}, ${acks} acks, ${delayMs} ms`).toEqual(
        rows.summary.mark === null ? empty : await uninterrupted(LAST),
      );
    }
    await Effect.runPromise(withStore(url, builtOf));
    expect(await Effect.runPromise(withStore(url, everything))).toEqual(await uninterrupted(LAST));
    expect(await indexesOf(url)).toEqual(allIndexes);
  });

  test("of which nothing is left but the name of a dead process, the next batch finds an empty store with its indexes", async () => {
    const url = freshSchema();
    await Effect.runPromise(withStore(url, applyNumbered(2)));
    // What a process leaves that dies between the copying and the mark.
    await aside(
      url,
      `DROP INDEX ${allIndexes.join(", ")}`,
      `UPDATE ledger SET building = gen_random_uuid(), mark_count = NULL, mark_frontier = NULL, mark_slot = NULL,
         mark_ledger_time = NULL, mark_at_ms = NULL, escrows = 0`,
    );
    await Effect.runPromise(withStore(url, applyNumbered(3)));
    expect(await Effect.runPromise(withStore(url, everything))).toEqual(await uninterrupted(3));
    expect(await indexesOf(url)).toEqual(allIndexes);
  });

  const steps: ReadonlyArray<
    readonly [string, (build: IndexBuild) => Effect.Effect<void, StoreUnavailable>]
  > = [
    ["adds merchants", (build) => build.add({ escrows: [], unseen: [], merchants: observed })],
    ["finishes", (build) => build.finish(numberedMark(1))],
  ];
  test.each(steps)("in a term that is over writes nothing more when it %s", async (_, step) => {
    const url = freshSchema();
    const program = asReplica(url, (index, one) =>
      asReplica(url, (other, another) =>
        Effect.gen(function* () {
          const term = yield* one.hold;
          const inTerm = Effect.provideService(SyncEpoch, term?.epoch ?? 0n);
          yield* Effect.scoped(
            Effect.gen(function* () {
              const build = yield* inTerm(index.writer.build);
              yield* build.add(rowsOf(1));
              yield* one.release;
              const next = yield* another.hold;
              const later = Effect.provideService(SyncEpoch, next?.epoch ?? 0n);
              yield* later(applyNumbered(2)(other));
              expect(yield* Effect.flip(step(build))).toMatchObject({
                _tag: "StoreUnavailable",
                retryable: true,
              });
            }),
          );
          return yield* everything(other);
        }),
      ),
    );
    expect(await Effect.runPromise(program)).toEqual(await uninterrupted(2));
    expect(await indexesOf(url)).toEqual(allIndexes);
  });

  test("that another build of the same term replaces writes nothing more", async () => {
    const url = freshSchema();
    const program = withStore(url, (index) =>
      Effect.scoped(
        Effect.gen(function* () {
          const first = yield* index.writer.build;
          yield* first.add(rowsOf(1));
          yield* builtOf(index);
          for (const [, step] of steps)
            expect(yield* Effect.flip(step(first))).toMatchObject({ retryable: true });
          yield* index.writer.apply(changesOf({ from: numberedMark(LAST).count }));
        }),
      ).pipe(Effect.andThen(everything(index))),
    );
    expect(await Effect.runPromise(program)).toEqual(await uninterrupted(LAST));
  });

  test("whose finish failed can be finished again", async () => {
    const url = freshSchema();
    const program = withStore(url, (index) =>
      Effect.gen(function* () {
        yield* Effect.scoped(
          Effect.gen(function* () {
            const build = yield* index.writer.build;
            for (let number = 1; number <= LAST; number++) yield* build.add(rowsOf(number));
            // The rows are copied and their indexes made when the registry is needed.
            yield* Effect.promise(() => aside(url, "ALTER TABLE merchant RENAME TO away"));
            expect(Exit.isFailure(yield* Effect.exit(build.finish(numberedMark(LAST))))).toBe(true);
            yield* Effect.promise(() => aside(url, "ALTER TABLE away RENAME TO merchant"));
            yield* build.finish(numberedMark(LAST));
          }),
        );
        return yield* everything(index);
      }),
    );
    expect(await Effect.runPromise(program)).toEqual(await uninterrupted(LAST));
  });

  test("without a folder for its rows fails as what can pass, and leaves the store as it was", async () => {
    const url = freshSchema();
    const { TMPDIR } = process.env;
    const program = withStore(url, (index) =>
      Effect.gen(function* () {
        yield* applyNumbered(1)(index);
        process.env["TMPDIR"] = "/nowhere";
        expect(yield* Effect.flip(builtOf(index))).toMatchObject({
          _tag: "StoreUnavailable",
          retryable: true,
        });
        return yield* everything(index);
      }),
    );
    const found = await Effect.runPromise(program).finally(() => {
      if (TMPDIR === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = TMPDIR;
    });
    expect(found).toEqual(await uninterrupted(1));
  });

  test("shows nothing before it is whole, and keeps no reader waiting", async () => {
    const url = freshSchema();
    const seen = await Effect.runPromise(
      withStore(url, (index) =>
        Effect.gen(function* () {
          yield* index.writer.apply(numberedBatch(1));
          const counts: Array<number> = [];
          const reading = Effect.forever(
            Effect.gen(function* () {
              const { mark } = yield* index.reader.summary;
              const rows = yield* index.reader.escrows({}, 1000, null);
              if (mark === null) counts.push(rows.length);
            }),
          );
          yield* Effect.raceFirst(reading, builtOf(index));
          return counts;
        }),
      ),
    );
    expect(seen.length).toBeGreaterThan(5);
    // A build may end between the two reads.
    expect(seen.slice(0, -1).filter((count) => count > 0)).toEqual([]);
  });
});
