import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import type { IndexBuild } from "../../../ports/index-writer.ts";
import { StoreUnavailable } from "../../../ports/store-unavailable.ts";
import { SyncEpoch } from "../../../ports/sync-lease.ts";
import type { PostgresStore } from "../postgres-store.ts";
import { type Queries, rowsOf } from "../queries.ts";
import { emptyForBuild, emptyIndex } from "./empty-index.ts";
import { createIndex, ESCROW_INDEXES } from "./index-schema.ts";
import { addCounts, lockLedger, putMark } from "./ledger-row.ts";
import { putMerchants } from "./merchant-table.ts";
import { RowSpool } from "./row-spool.ts";
import { COUNT_ALL } from "./tallies.ts";
import { holdTerm } from "./write-term.ts";

/** Lifts the server's limit on a statement and lets it sort in memory, until the transaction ends. */
const LARGE = "SET LOCAL statement_timeout = 0; SET LOCAL maintenance_work_mem = '256MB'";

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "settlement-build-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
);

/**
 * A first snapshot. Rows wait on disk until all are there, are copied in the order of their numbers into tables without
 * indexes, and the indexes are made last. Each transaction holds the term and finds its own build in the ledger's row:
 * neither a replica whose term is over nor a build that another has replaced writes anything.
 */
export const buildIndex = Effect.fnUntraced(function* ({ run, runLong }: PostgresStore["Service"]) {
  const epoch = yield* SyncEpoch;
  const id = crypto.randomUUID();
  const spool = new RowSpool(yield* temporaryFolder);
  let merchants = 0;

  const step =
    (work: (sql: Queries) => Promise<unknown>) =>
    (sql: Parameters<Parameters<typeof run>[0]>[0]): Promise<unknown> =>
      sql.begin(async (within) => {
        await holdTerm(within, epoch);
        const { building } = await lockLedger(within);
        if (building !== id)
          throw new StoreUnavailable({ retryable: true, cause: "another build has begun" });
        await work(within);
      });

  yield* Effect.acquireRelease(
    run((sql) =>
      sql.begin(async (within) => {
        await holdTerm(within, epoch);
        await lockLedger(within);
        await emptyForBuild(within, id);
      }),
    ),
    // After `finish` there is no build of this name; one whose term is over is removed by the next writer.
    () => Effect.ignore(run(step(emptyIndex))),
  );

  return {
    add: Effect.fnUntraced(function* (rows) {
      yield* Effect.sync(() => spool.add(rows));
      if (rows.merchants.length === 0) return;
      yield* run(
        step(async (sql) => {
          merchants += await putMerchants(sql, rows.merchants);
        }),
      );
    }),
    leaves: (sink) => Effect.sync(() => spool.showLeaves(sink)),
    finish: Effect.fnUntraced(function* (mark) {
      const counts = { escrow: 0, unseen_escrow: 0 };
      for (const chunk of spool.chunks()) {
        counts[chunk.table] += chunk.rows;
        yield* run(step((sql) => chunk.copy(sql)));
      }
      for (const index of ESCROW_INDEXES)
        yield* runLong(
          step(async (sql) => {
            await sql.unsafe(LARGE);
            await rowsOf(sql, createIndex(index));
          }),
        );
      yield* runLong(
        step(async (sql) => {
          await sql.unsafe(LARGE);
          for (const statement of COUNT_ALL) await rowsOf(sql, statement);
          await rowsOf(
            sql,
            "ANALYZE escrow, unseen_escrow, merchant, escrow_tally, delivery_tally",
          );
          await addCounts(sql, {
            escrows: counts.escrow,
            unseen: counts.unseen_escrow,
            merchants,
          });
          await putMark(sql, mark);
        }),
      );
    }),
  } satisfies IndexBuild;
});
