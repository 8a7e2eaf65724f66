import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import type { IndexBuild, Observed } from "../../../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { SyncEpoch } from "../../../../ports/index/sync-lease.ts";
import { LONGEST_MS, type PostgresStore } from "../../postgres-store.ts";
import { type Queries, rowsOf } from "../../queries.ts";
import { tryStore } from "../../try-store.ts";
import { copyChunks } from "./copy-rows.ts";
import { emptyEscrows, emptyForBuild, emptyIndex } from "./empty-index.ts";
import { createIndex, ESCROW_INDEXES } from "../index-schema.ts";
import { addCounts, lockLedger, nameBuild, putMark, putSnapshotTime } from "../ledger-row.ts";
import { putMerchants } from "../merchant-table.ts";
import { RowSpool } from "../../../sql/row-spool.ts";
import { COUNT_ALL } from "../tallies.ts";
import { holdTerm } from "../write-term.ts";

/**
 * Until the transaction ends: lifts the server's limit on a statement, lets it sort in memory, and has the server look
 * each second whether this process still lives, where it can (PostgreSQL 14). So a killed process keeps its successor
 * waiting no longer than its lease does, not until the statement is done.
 */
const LARGE = `SET LOCAL statement_timeout = ${LONGEST_MS};
  SET LOCAL maintenance_work_mem = '256MB';
  SELECT set_config(name, '1000', true) FROM pg_settings WHERE name = 'client_connection_check_interval'`;

/**
 * Until the transaction ends: its commit does not wait for the disk. The last one of a build does, and with it all
 * before it.
 */
const NOT_DURABLE = "SET LOCAL synchronous_commit = off";

/** What the planner needs to choose among the indexes. No page looks for anything else. */
const ANALYZE = `ANALYZE unseen_escrow, merchant, escrow_tally, delivery_tally,
  escrow (created_seq, settled_seq, state, merchant, agent_owner, address, expires_at, created_referenced, settled_referenced)`;

const temporaryFolder = Effect.acquireRelease(
  tryStore(() => mkdtemp(join(tmpdir(), "settlement-build-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true })),
);

/** Rows and leaves in a turn of the event loop, some milliseconds of work. */
const ROWS_AT_ONCE = 500;
const LEAVES_AT_ONCE = 5000;

/** Runs work that yields where the process may do other things. */
const inTurns = (work: Generator<void, void>): Effect.Effect<void, StoreUnavailable> =>
  Effect.gen(function* () {
    while ((yield* tryStore(async () => work.next())).done !== true) yield* Effect.yieldNow;
  });

/**
 * A snapshot. Rows wait on disk until all are there, are copied in the order of their numbers into tables without
 * indexes, and the indexes are made last. A store that has a mark stays as it is until `finish` begins. Each
 * transaction holds the term and finds its own build in the ledger's row: neither a replica whose term is over nor a
 * build that another has replaced writes anything.
 */
export const buildIndex = Effect.fnUntraced(function* ({
  transaction,
  longTransaction,
}: PostgresStore["Service"]) {
  const epoch = yield* SyncEpoch;
  const id = crypto.randomUUID();
  const spool = new RowSpool(yield* temporaryFolder);

  /** The count of the mark that stands until `finish`; null once the store is this build's. */
  let standing: bigint | null = null;
  /** Merchants that wait until the store is this build's. */
  let merchants: Array<Observed<Merchant>> = [];

  const step =
    (work: (sql: Queries) => Promise<unknown>) =>
    async (within: Queries): Promise<void> => {
      await holdTerm(within, epoch);
      const { building } = await lockLedger(within);
      if (building !== id)
        throw new StoreUnavailable({ retryable: true, cause: "another build has begun" });
      await work(within);
    };

  const takeOver = async (within: Queries): Promise<void> => {
    await emptyForBuild(within);
    await nameBuild(within, id);
  };
  /** Runs work while the mark stands on which the build began. */
  const beside = (work: (sql: Queries) => Promise<void>) => async (within: Queries) => {
    await holdTerm(within, epoch);
    const { count } = await lockLedger(within);
    if (count !== standing)
      throw new StoreUnavailable({ retryable: true, cause: "another process has written" });
    await work(within);
  };

  yield* Effect.acquireRelease(
    transaction(async (within) => {
      await holdTerm(within, epoch);
      const { count } = await lockLedger(within);
      if (count === null) await takeOver(within);
      standing = count;
    }),
    // After `finish` there is no build of this name; one whose term is over is removed by the next writer.
    () => Effect.ignore(transaction(step(emptyIndex))),
  );

  return {
    add: Effect.fnUntraced(function* (rows) {
      yield* inTurns(spool.add(rows, ROWS_AT_ONCE));
      if (rows.merchants.length === 0) return;
      if (standing === null) yield* transaction(step((sql) => putMerchants(sql, rows.merchants)));
      else {
        yield* transaction(beside(() => Promise.resolve()));
        merchants.push(...rows.merchants);
      }
    }),
    leaves: (sink) => Effect.suspend(() => inTurns(spool.leaves(sink, LEAVES_AT_ONCE))),
    finish: Effect.fnUntraced(function* (mark) {
      if (standing !== null) {
        yield* transaction(beside(takeOver));
        standing = null;
      }
      if (merchants.length > 0) yield* transaction(step((sql) => putMerchants(sql, merchants)));
      merchants = [];
      // A `finish` that failed is begun anew.
      yield* transaction(step(emptyEscrows));
      const counts = { escrow: 0, unseen_escrow: 0 };
      const chunks = copyChunks(spool.rows());
      for (;;) {
        const next: ReturnType<typeof chunks.next> = yield* tryStore(async () => chunks.next());
        if (next.done === true) break;
        const chunk = next.value;
        counts[chunk.table] += chunk.rows;
        yield* transaction(
          step(async (sql) => {
            await sql.unsafe(NOT_DURABLE);
            await chunk.copy(sql);
          }),
        );
      }
      for (const index of ESCROW_INDEXES)
        yield* longTransaction(
          step(async (sql) => {
            await sql.unsafe(NOT_DURABLE);
            await sql.unsafe(LARGE);
            await rowsOf(sql, createIndex(index));
          }),
        );
      yield* longTransaction(
        step(async (sql) => {
          await sql.unsafe(LARGE);
          for (const statement of COUNT_ALL) await rowsOf(sql, statement);
          await rowsOf(sql, ANALYZE);
          const [row] = await rowsOf<{ merchants: bigint }>(
            sql,
            "SELECT count(*) AS merchants FROM merchant",
          );
          await addCounts(sql, {
            escrows: counts.escrow,
            unseen: counts.unseen_escrow,
            merchants: Number(row?.merchants),
          });
          await putMark(sql, mark);
          await putSnapshotTime(sql, mark.atMs);
        }),
      );
    }),
  } satisfies IndexBuild;
});
