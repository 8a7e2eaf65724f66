import type { RowChanges } from "../../ports/escrow-index.ts";
import {
  arraysOf,
  type Column,
  inputOf,
  namesOf,
  portionsOf,
  type Queries,
  rowsOf,
  type Values,
} from "./queries.ts";

/** Which rows a batch's sightings created and which they changed, by address. */
export type Written = {
  readonly created: ReadonlyArray<string>;
  readonly updated: ReadonlyArray<string>;
};

/**
 * The rows of a batch in rounds that name each address once, in the order given: one statement cannot
 * write a row twice, and what a second sighting does depends on the first.
 */
const roundsOf = (rows: ReadonlyArray<Values>): ReadonlyArray<ReadonlyArray<Values>> => {
  const rounds: Array<Array<Values>> = [];
  const seen = new Map<unknown, number>();
  for (const row of rows) {
    const round = seen.get(row[0]) ?? 0;
    seen.set(row[0], round + 1);
    const own = rounds[round] ?? [];
    own.push(row);
    rounds[round] = own;
  }
  return rounds;
};

/**
 * The writing of sightings into a table whose first columns are `address` and `slot`. A row is
 * replaced when the sighting is not older than it, differs from it, and the row meets `guard`. What
 * is not replaced is not touched at all, so that a snapshot of unchanged data writes nothing, unless
 * `raise` is set: then an equal sighting still raises the row's slot.
 */
export const sightingUpsert = (
  table: string,
  columns: ReadonlyArray<Column>,
  { guard, raise }: { readonly guard: string; readonly raise: boolean },
) => {
  const content = columns.slice(2);
  const names = namesOf(columns);
  const differs = `(${namesOf(content, "before.")}) IS DISTINCT FROM (${namesOf(content, "input.")})`;
  // All parts of a statement see the table as it was before: hence `before`, and the order does not matter.
  const text = `
    WITH input AS (SELECT * FROM ${inputOf(columns)}),
    replaced AS (
      UPDATE ${table} AS stored
      SET (slot, ${namesOf(content)}) = ROW (input.slot, ${namesOf(content, "input.")})
      FROM input JOIN ${table} AS before ON before.address = input.address
      WHERE stored.address = input.address AND before.slot <= input.slot AND ${guard}
        AND (${differs}${raise ? " OR before.slot < input.slot" : ""})
      RETURNING stored.address, ${differs} AS differs
    ),
    created AS (
      INSERT INTO ${table} (${names}) SELECT ${names} FROM input
      WHERE NOT EXISTS (SELECT FROM ${table} AS before WHERE before.address = input.address)
      RETURNING address
    )
    SELECT address, true AS created FROM created
    UNION ALL SELECT address, false FROM replaced WHERE differs`;
  return async (sql: Queries, rows: ReadonlyArray<Values>): Promise<Written> => {
    const created: Array<string> = [];
    const updated: Array<string> = [];
    for (const round of roundsOf(rows).flatMap(portionsOf)) {
      const written = await rowsOf<{ readonly address: string; readonly created: boolean }>(
        sql,
        text,
        arraysOf(sql, columns, round),
      );
      for (const row of written) (row.created ? created : updated).push(row.address);
    }
    return { created, updated };
  };
};

/** Counts of what so many sightings did. */
export const countChanges = (sightings: number, { created, updated }: Written): RowChanges => ({
  created: created.length,
  updated: updated.length,
  unchanged: sightings - created.length - updated.length,
});
