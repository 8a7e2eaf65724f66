import { Effect } from "effect";
import { encodeBody } from "../../../adapters/sql/escrow-body.ts";
import { bindEscrow, ESCROW_COLUMNS } from "../../../adapters/sqlite/index/escrow-row.ts";
import { INDEX_KIND } from "../../../adapters/sqlite/index/index-schema.ts";
import { openStore } from "../../../adapters/sqlite/open-store.ts";
import { rowOf, stopwatch } from "./store-work.ts";

/** Rows of a transaction. */
const BATCH_ROWS = 50_000;
/** Rows of a statement. */
const ROWS_AT_ONCE = 20;

type Values = Array<number | bigint | Uint8Array | null>;

/** What statements of twenty rows bind, for rows that come in order. */
const boundRows = (first: number, rows: number): ReadonlyArray<Values> => {
  const statements: Array<Values> = [];
  for (let number = first; number < first + rows; number++) {
    if ((number - first) % ROWS_AT_ONCE === 0) statements.push([]);
    bindEscrow(statements.at(-1) ?? [], Uint8Array.from(encodeBody(rowOf(number))));
  }
  return statements;
};

/**
 * What SQLite alone needs for the rows of a first snapshot, at least: they are encoded beforehand and come in order, go
 * into the table of escrows in a store of its own at `path`, and its indexes are made afterwards. `rows` is a multiple
 * of 20.
 */
export const bareSqlite = (path: string, rows: number) =>
  Effect.scoped(
    Effect.gen(function* () {
      const db = yield* openStore(path, INDEX_KIND);
      const indexes = db
        .query<{ name: string; sql: string }, []>(
          "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'escrow' AND sql IS NOT NULL",
        )
        .all();
      for (const { name } of indexes) db.run(`DROP INDEX ${name}`);
      const row = `(${ESCROW_COLUMNS.map(() => "?").join(", ")})`;
      const insert = db.query<null, Values>(
        `INSERT INTO escrow (${ESCROW_COLUMNS.join(", ")}) VALUES ${Array.from({ length: ROWS_AT_ONCE }, () => row).join(", ")}`,
      );
      const writing = stopwatch();
      yield* Effect.promise(async () => {
        for (let first = 0; first < rows; first += BATCH_ROWS) {
          const bound = boundRows(first, Math.min(BATCH_ROWS, rows - first));
          await writing.time(async () => {
            db.transaction(() => {
              for (const values of bound) insert.run(...values);
            })();
          });
        }
        await writing.time(async () => {
          db.transaction(() => {
            for (const { sql } of indexes) db.run(sql);
          })();
          db.run("PRAGMA wal_checkpoint(TRUNCATE)");
        });
      });
      return writing.total;
    }),
  );
