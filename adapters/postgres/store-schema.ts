import {
  INDEX_TABLES,
  PACE_COLUMNS,
  SNAPSHOT_COLUMNS,
  UNSEEN_INDEX,
} from "./index/index-schema.ts";
import type { SchemaKind } from "./migrate.ts";
import { LOG_TABLES } from "./index/log-tables.ts";
import { PACKET_TABLE } from "./packets/packet-table.ts";
import { CLAIM_COLUMNS, OUTCOME_TABLES } from "./relay/outcome-schema.ts";

/**
 * The steps from an empty schema to the newest; the table `schema_version` counts those taken. Steps
 * are only ever added at the end, and each version has a dump under `test/vectors/stores`.
 */
export const STORE_MIGRATIONS: ReadonlyArray<string> = [
  INDEX_TABLES + LOG_TABLES + OUTCOME_TABLES,
  SNAPSHOT_COLUMNS + PACKET_TABLE,
  PACE_COLUMNS,
  UNSEEN_INDEX,
  CLAIM_COLUMNS,
];

/** The kind of a schema that holds a store of this service. */
export const STORE_SCHEMA: SchemaKind = { migrations: STORE_MIGRATIONS, table: "unseen_escrow" };
