import { INDEX_TABLES } from "./index/index-schema.ts";
import { LOG_TABLES } from "./index/log-tables.ts";
import { PACKET_TABLE } from "./packets/packet-table.ts";
import { OUTCOME_TABLES } from "./relay/outcome-schema.ts";

/** The version of the schema, in its table `schema_version`. A schema of another version is refused, never rewritten. */
export const SCHEMA_VERSION = 2;

/** The SQL that makes the tables in an empty schema. */
export const STORE_TABLES = INDEX_TABLES + LOG_TABLES + OUTCOME_TABLES + PACKET_TABLE;
