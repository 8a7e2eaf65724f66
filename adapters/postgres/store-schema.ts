import { INDEX_TABLES } from "./index/index-schema.ts";
import { LOG_TABLES } from "./index/log-tables.ts";
import { OUTCOME_TABLES } from "./relay/outcome-schema.ts";

/** The packets of settled escrows that were served, numbered in the order in which they were kept last. */
const PACKET_TABLE = `
  CREATE SEQUENCE settled_packet_kept;
  CREATE TABLE settled_packet (
    escrow TEXT PRIMARY KEY,
    kept INT8 NOT NULL UNIQUE DEFAULT nextval('settled_packet_kept'),
    packet TEXT NOT NULL,
    digest TEXT NOT NULL
  );
  CREATE INDEX packet_by_digest ON settled_packet (digest);
`;

/**
 * The version of the schema, in its table `schema_version`. A schema of another version is refused, never rewritten.
 */
export const SCHEMA_VERSION = 4;

/** The SQL that makes the tables in an empty schema. */
export const STORE_TABLES = INDEX_TABLES + LOG_TABLES + OUTCOME_TABLES + PACKET_TABLE;
