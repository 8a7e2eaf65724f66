import type { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { Effect, type Scope } from "effect";
import type { SyncMark } from "../../../core/domain/index/sync-report.ts";
import type { IndexBuild, IndexChanges } from "../../../ports/index/index-writer.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { setPageCache } from "../open-store.ts";
import { tryStore, inTurns } from "../store-failure.ts";
import type { WriteTransaction } from "../write-transaction.ts";
import { bindEscrow, ESCROW_COLUMNS } from "./escrow-row.ts";
import { ROW_TABLE_NAMES, ROW_TABLES, ROW_INDEXES } from "./index-schema.ts";
import type { CountChanges } from "../../sql/summary-row.ts";
import { ledgerRow, unseenTable } from "./ledger-row.ts";
import { merchantTable } from "./merchant-table.ts";
import { tallyWriter } from "./merchant-tally.ts";
import { RowSpool, type SpooledRow } from "../../sql/row-spool.ts";

/** Rows and leaves per turn of the event loop, a few milliseconds of work. */
const ROWS_AT_ONCE = 500;
const LEAVES_AT_ONCE = 5000;
/** Rows of a statement: binding twenty at once takes a fifth less time than one by one. */
const ROWS_PER_STATEMENT = 20;
/** Rows of a transaction, 25 MB. */
const ROWS_PER_TRANSACTION = 50_000;

/**
 * Memory in which indexes are sorted, in KiB. SQLite sorts parts of this size and merges them. Parts that fit into a
 * processor's cache take a quarter less time than everything at once.
 */
const SORTING_KIB = 2048;

/** A table while it is filled. Nobody reads it under this name. */
const building = (table: string): string => `building_${table}`;

/** Writes rows into the table of escrows that is being filled. */
const fillTable = (db: Database) => {
  const marks = `(${ESCROW_COLUMNS.map(() => "?").join(", ")})`;
  const insert = (rows: number) =>
    db.query<null, Array<number | bigint | Uint8Array | null>>(
      `INSERT INTO ${building("escrow")} (${ESCROW_COLUMNS.join(", ")})
       VALUES ${Array.from({ length: rows }, () => marks).join(", ")}`,
    );
  const [many, one] = [insert(ROWS_PER_STATEMENT), insert(1)];
  let values: Array<number | bigint | Uint8Array | null> = [];
  return {
    put: (body: Uint8Array): void => {
      bindEscrow(values, body);
      if (values.length < ROWS_PER_STATEMENT * ESCROW_COLUMNS.length) return;
      many.run(...values);
      values = [];
    },
    flush: (): void => {
      for (let at = 0; at < values.length; at += ESCROW_COLUMNS.length)
        one.run(...values.slice(at, at + ESCROW_COLUMNS.length));
      values = [];
    },
  };
};

/**
 * A snapshot. Rows wait in files beside the store until they are all there, fill tables of their own in the
 * order of their numbers, and one transaction makes those the tables that readers know, with their indexes and the
 * mark. So a process or a machine that stops on the way leaves the store as it was, whatever it had written.
 */
export const indexBuild = (
  db: Database,
  write: WriteTransaction,
  folder: string,
): Effect.Effect<IndexBuild, StoreUnavailable, Scope.Scope> => {
  const ledger = ledgerRow(db);

  const dropBuilding = (): void => {
    for (const table of ROW_TABLE_NAMES) db.run(`DROP TABLE IF EXISTS ${building(table)}`);
    rmSync(folder, { recursive: true, force: true });
  };

  function* begin(): Generator<void, RowSpool> {
    dropBuilding();
    for (const table of ROW_TABLE_NAMES) {
      db.run(ROW_TABLES[table](building(table)));
      yield;
    }
    return new RowSpool(folder);
  }

  /** A `finish` that failed is begun anew. */
  function* beginFilling(): Generator<void, void> {
    for (const table of ROW_TABLE_NAMES)
      if (table !== "merchant") db.run(`DELETE FROM ${building(table)}`);
    yield;
  }

  const filling = (spool: RowSpool) => {
    const rows = spool.rows();
    const table = fillTable(db);
    const unseen = unseenTable(db, building("unseen_escrow"));
    const tallies = {
      escrows: building("escrow_tally"),
      deliveries: building("delivery_tally"),
    };
    const sums = tallyWriter(db, tallies).summing();
    const counts: CountChanges = { escrows: 0, unseen: 0, merchants: 0 };
    const put = (row: SpooledRow): void => {
      if (row.kind === "unseen") {
        unseen.insert(row.row);
        counts.unseen += 1;
      } else {
        table.put(row.body);
        sums.count(row.body, 1);
        counts.escrows += 1;
      }
    };
    return {
      counts,
      /** Fills in the next rows; whether there are more. */
      *next(): Generator<void, boolean> {
        for (let row = 1; row <= ROWS_PER_TRANSACTION; row++) {
          const { value } = rows.next();
          if (value === undefined) {
            table.flush();
            sums.write();
            return false;
          }
          put(value);
          if (row % ROWS_AT_ONCE === 0) yield;
        }
        table.flush();
        sums.write();
        return true;
      },
    };
  };

  function* show(mark: SyncMark, counts: CountChanges): Generator<void, void> {
    for (const table of ROW_TABLE_NAMES) {
      db.run(`DROP TABLE ${table}`);
      db.run(`ALTER TABLE ${building(table)} RENAME TO ${table}`);
    }
    for (const index of ROW_INDEXES) {
      yield;
      db.run(index);
    }
    db.run("DELETE FROM event_transaction");
    ledger.clear();
    const merchants = db
      .query<{ count: bigint }, []>("SELECT count(*) AS count FROM merchant")
      .get();
    ledger.count({ ...counts, merchants: Number(merchants?.count ?? 0n) });
    ledger.mark(mark);
    ledger.snapshot(mark.atMs);
  }

  function* addMerchants({ merchants }: Pick<IndexChanges, "merchants">) {
    const table = merchantTable(db, building("merchant"));
    for (const [at, observed] of merchants.entries()) {
      table.put(observed);
      if (at % ROWS_AT_ONCE === 0) yield;
    }
  }

  const of = (spool: RowSpool): IndexBuild => {
    return {
      add: Effect.fn("IndexBuild.add")(function* (rows) {
        yield* inTurns(() => spool.add(rows, ROWS_AT_ONCE));
        if (rows.merchants.length > 0) yield* write(() => addMerchants(rows), { durable: false });
      }),
      leaves: Effect.fn("IndexBuild.leaves")((sink) =>
        inTurns(() => spool.leaves(sink, LEAVES_AT_ONCE)),
      ),
      finish: Effect.fn("IndexBuild.finish")(function* (mark) {
        yield* write(beginFilling, { durable: false });
        const fill = filling(spool);
        while (yield* write(() => fill.next(), { durable: false }));
        yield* Effect.ensuring(
          Effect.andThen(
            tryStore(() => setPageCache(db, SORTING_KIB)),
            write(() => show(mark, fill.counts), { durable: true }),
          ),
          Effect.ignore(tryStore(() => setPageCache(db))),
        );
        // The log of so large a transaction is copied into the file, and cut.
        yield* tryStore(() => db.run("PRAGMA wal_checkpoint(TRUNCATE)"));
      }),
    };
  };

  function* dropping() {
    dropBuilding();
    yield;
  }
  return Effect.map(
    Effect.acquireRelease(write(begin, { durable: true }), () =>
      Effect.ignore(write(dropping, { durable: false })),
    ),
    of,
  );
};
