import { INDEX_TABLES } from "./index-schema.ts";
import { OUTCOME_TABLES } from "./outcome-schema.ts";
import { COUNTS_ONLY } from "./tally-counts.ts";
import { TALLY_TABLES } from "./tally-schema.ts";

/**
 * The steps from an empty schema to the newest; the table `schema_version` counts those taken. Steps
 * are only ever added at the end.
 */
export const STORE_MIGRATIONS: ReadonlyArray<string> = [
  INDEX_TABLES + OUTCOME_TABLES + TALLY_TABLES + COUNTS_ONLY,
];
