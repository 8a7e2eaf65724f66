import type { FullTile } from "../../../ports/log/log-store.ts";
import {
  arraysOf,
  columnsOf,
  inputOf,
  int8,
  namesOf,
  portionsOf,
  type Queries,
  rowsOf,
} from "../queries.ts";
import { type LeafRow, leavesUpToGap } from "../../sql/index-rows.ts";
import { mergedRuns, shown } from "./escrow-pages.ts";

/** The log's tables. Tiles hold hashes, which do not compress. */
export const LOG_TABLES = `
  CREATE TABLE log_tile (
    path TEXT COLLATE "C" PRIMARY KEY,
    bytes BYTEA NOT NULL
  );
  ALTER TABLE log_tile ALTER COLUMN bytes SET STORAGE EXTERNAL;

  CREATE TABLE log_standing (
    one BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    text TEXT NOT NULL
  );
`;

const runsOf = (table: string): ReadonlyArray<string> => [
  `SELECT created_seq AS seq, 0 AS state, address, pending_hash AS hash FROM ${table} WHERE created_seq >= $1`,
  `SELECT settled_seq AS seq, state, address, settled_hash AS hash FROM ${table} WHERE settled_seq >= $1`,
];

/** Selects at most `limit` leaves, from a number on. */
export const LEAVES = shown(
  mergedRuns([...runsOf("escrow"), ...runsOf("unseen_escrow")], "seq", "$2"),
  "seq",
);

/** The leaves numbered from `from` on, ascending, up to the first that is missing. */
export const leavesFrom = async (
  sql: Queries,
  from: bigint,
  limit: number,
): Promise<ReadonlyArray<Uint8Array>> => {
  return leavesUpToGap(await rowsOf<LeafRow>(sql, LEAVES, [int8(from), limit]), from);
};

/** A full tile, null for one that is not kept. */
export const tileAt = async (sql: Queries, path: string): Promise<Uint8Array | null> => {
  const [row] = await rowsOf<FullTile>(sql, "SELECT bytes FROM log_tile WHERE path = $1", [path]);
  return row === undefined ? null : new Uint8Array(row.bytes);
};

const TILE = columnsOf({ path: "TEXT", bytes: "BYTEA" });

/** Stores tiles. A tile replaces one with the same path. */
export const keepTiles = async (sql: Queries, tiles: ReadonlyArray<FullTile>): Promise<void> => {
  for (const portion of portionsOf(tiles))
    await rowsOf(
      sql,
      `INSERT INTO log_tile (${namesOf(TILE)}) SELECT ${namesOf(TILE)} FROM ${inputOf(TILE)}
       ON CONFLICT (path) DO UPDATE SET bytes = excluded.bytes`,
      arraysOf(
        sql,
        TILE,
        portion.map(({ path, bytes }) => [path, bytes]),
      ),
    );
};

/** How the log stands, null before it was written. */
export const standingIn = async (sql: Queries): Promise<string | null> => {
  const [row] = await rowsOf<{ text: string }>(sql, "SELECT text FROM log_standing");
  return row?.text ?? null;
};

/** Replaces the standing if it is `before`, and says whether it was. */
export const replaceStanding = async (
  sql: Queries,
  before: string | null,
  next: string,
): Promise<boolean> => {
  const written = await (before === null
    ? rowsOf(
        sql,
        `INSERT INTO log_standing (text) VALUES ($1)
         ON CONFLICT (one) DO NOTHING RETURNING one`,
        [next],
      )
    : rowsOf(sql, "UPDATE log_standing SET text = $1 WHERE text = $2 RETURNING one", [
        next,
        before,
      ]));
  return written.length > 0;
};
