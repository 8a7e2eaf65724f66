import type { Database } from "bun:sqlite";
import type { RowChanges } from "../../ports/escrow-index.ts";
import { placeholders, type Values } from "./columns.ts";

/** What a sighting did to the store's row. */
export type Change = keyof RowChanges;

/**
 * Prepares the writing of sightings into a table with the columns `address`, `slot` and `content`,
 * in that order. A row is replaced when the sighting is not older than it and
 * differs from it; the statement decides, so that no other writer can come between.
 */
export const sightingUpsert = (
  db: Database,
  table: string,
  content: ReadonlyArray<string>,
): ((values: Values) => Change) => {
  const columns = ["address", "slot", ...content];
  const insert = db.query<null, Array<Values[number]>>(
    `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${placeholders(columns, 1)})
     ON CONFLICT (address) DO NOTHING`,
  );
  const update = db.query<null, Array<Values[number]>>(
    `UPDATE ${table} SET (slot, ${content.join(", ")}) = (?2, ${placeholders(content, 3)})
     WHERE address = ?1 AND slot <= ?2
       AND (${content.join(", ")}) IS NOT (${placeholders(content, 3)})`,
  );
  return (values) => {
    if (insert.run(...values).changes > 0) return "created";
    return update.run(...values).changes > 0 ? "updated" : "unchanged";
  };
};

/** Counts of what a batch's sightings did. */
export const countChanges = (changes: ReadonlyArray<Change>): RowChanges => {
  const counts = { created: 0, updated: 0, unchanged: 0 };
  for (const change of changes) counts[change]++;
  return counts;
};
