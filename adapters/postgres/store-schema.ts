import { INDEX_TABLES } from "./index/index-schema.ts";
import { LOG_TABLES } from "./index/log-tables.ts";

/**
 * The relay's tables. A relay's outcome is null while it is open; `outcome_at` is the slot it landed in, or
 * the finalized block height at which it had expired. `error` is the JSON of a landed one's error, and of an expired
 * one the signature of the transaction that superseded it. `holder` is the replica that holds a key without an answer,
 * until `held_until` by the database's clock.
 */
const OUTCOME_TABLES = `
  CREATE TABLE relay (
    signature TEXT COLLATE "C" PRIMARY KEY,
    wire BYTEA NOT NULL,
    fee_payer TEXT NOT NULL,
    last_valid_block_height NUMERIC(20) NOT NULL,
    opened_at_slot NUMERIC(20) NOT NULL,
    opened_at_ms INT8 NOT NULL,
    outcome TEXT CHECK (outcome IN ('landed', 'expired')),
    outcome_at NUMERIC(20),
    error TEXT,
    CHECK ((outcome IS NULL) = (outcome_at IS NULL))
  );
  CREATE INDEX relay_unsettled ON relay (opened_at_ms) WHERE outcome IS NULL;

  CREATE TABLE idempotency_key (
    client TEXT COLLATE "C" NOT NULL,
    key TEXT COLLATE "C" NOT NULL,
    fingerprint TEXT NOT NULL,
    claimed_at_ms INT8 NOT NULL,
    answer TEXT,
    holder TEXT,
    held_until TIMESTAMPTZ NOT NULL,
    PRIMARY KEY (client, key)
  );
  CREATE INDEX idempotency_key_age ON idempotency_key (claimed_at_ms);
`;

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

/** The operator's webhooks. Schemas of this version that were made without the table get it when they are opened. */
export const WEBHOOK_TABLE = `
  CREATE TABLE webhook (
    id TEXT COLLATE "C" PRIMARY KEY,
    text TEXT NOT NULL
  );
`;

/**
 * The version of the schema, in its table `schema_version`. A schema of another version is refused, never rewritten.
 */
export const SCHEMA_VERSION = 4;

/** The SQL that makes the tables in an empty schema. */
export const STORE_TABLES =
  INDEX_TABLES + LOG_TABLES + OUTCOME_TABLES + PACKET_TABLE + WEBHOOK_TABLE;
