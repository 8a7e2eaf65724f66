import type { Migration } from "./open-store.ts";
import { numberAddresses } from "./numbered-schema.ts";
import { TALLY_TABLES } from "./tally-schema.ts";

/** Marks a file as this service's index: ASCII `SEix` (PRAGMA application_id). */
export const INDEX_APPLICATION_ID = 0x53_45_69_78;

/**
 * The steps from an empty file to the newest schema; `PRAGMA user_version` counts those taken. Steps
 * are only ever added at the end.
 *
 * `number` and `position` are rowids: rows are never deleted, so they grow without holes and the highest is also
 * the count. An escrow's and a merchant's own address is base58 text, because pages are ordered by it. Times are
 * unix seconds, state and status the numbers that the ledger's accounts use, amounts as in columns.ts.
 * Escrows, events and tallies are as numbered-schema.ts, the last step, says.
 *
 * Indexes lead with a filter's columns, then `state`, then the page order: a query without a state merges the four
 * states' runs, which are each in order already. `expires_at` rides along so that refundable escrows
 * are found without touching the rows.
 */
export const INDEX_MIGRATIONS: ReadonlyArray<Migration> = [
  `
  CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    genesis_hash TEXT NOT NULL,
    custody_program TEXT NOT NULL,
    attestor_program TEXT NOT NULL,
    mark_slot INTEGER,
    mark_ledger_time INTEGER,
    mark_at_ms INTEGER,
    CHECK ((mark_slot IS NULL) = (mark_ledger_time IS NULL)
      AND (mark_slot IS NULL) = (mark_at_ms IS NULL))
  ) STRICT;

  CREATE TABLE escrow (
    number INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    slot INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    bump INTEGER NOT NULL,
    agent_owner BLOB NOT NULL CHECK (length(agent_owner) = 32),
    merchant BLOB NOT NULL CHECK (length(merchant) = 32),
    mint BLOB NOT NULL CHECK (length(mint) = 32),
    rent_payer BLOB NOT NULL CHECK (length(rent_payer) = 32),
    task_hash BLOB NOT NULL CHECK (length(task_hash) = 32),
    amount INTEGER NOT NULL,
    released INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER CHECK ((settled_at IS NULL) = (state = 0)),
    proof_hash BLOB,
    attestor BLOB,
    attested_at INTEGER,
    attestation_signature BLOB,
    delivery_seconds INTEGER AS (iif(attestor IS NULL, NULL, settled_at - created_at)) VIRTUAL,
    CHECK ((proof_hash IS NULL) = (attestor IS NULL)
      AND (attestor IS NULL) = (attested_at IS NULL)
      AND (attested_at IS NULL) = (attestation_signature IS NULL))
  ) STRICT;
  CREATE INDEX escrow_by_state ON escrow (state, created_at, address, expires_at);
  CREATE INDEX escrow_by_merchant ON escrow (merchant, state, created_at, address, expires_at);
  CREATE INDEX escrow_by_agent ON escrow (agent_owner, state, created_at, address, expires_at);
  CREATE INDEX escrow_deliveries ON escrow (merchant, delivery_seconds, released)
    WHERE delivery_seconds IS NOT NULL;

  CREATE TABLE merchant (
    number INTEGER PRIMARY KEY,
    address TEXT NOT NULL UNIQUE,
    slot INTEGER NOT NULL,
    bump INTEGER NOT NULL,
    wallet BLOB NOT NULL CHECK (length(wallet) = 32),
    name TEXT NOT NULL,
    status INTEGER NOT NULL,
    attestor BLOB NOT NULL CHECK (length(attestor) = 32),
    previous_attestor BLOB,
    attestor_since INTEGER NOT NULL,
    registered_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    reputation INTEGER NOT NULL,
    slashes INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    partial_deliveries INTEGER NOT NULL,
    volume INTEGER NOT NULL,
    folded_name TEXT NOT NULL,
    folded_addresses TEXT NOT NULL
  ) STRICT;

  CREATE TABLE event (
    position INTEGER PRIMARY KEY,
    escrow TEXT NOT NULL,
    kind INTEGER NOT NULL,
    state INTEGER NOT NULL,
    agent_owner BLOB NOT NULL CHECK (length(agent_owner) = 32),
    merchant BLOB NOT NULL CHECK (length(merchant) = 32),
    mint BLOB NOT NULL CHECK (length(mint) = 32),
    amount INTEGER NOT NULL,
    proof_hash BLOB,
    occurred_at INTEGER NOT NULL,
    chain_hash BLOB NOT NULL CHECK (length(chain_hash) = 32),
    refundable_from INTEGER,
    UNIQUE (escrow, kind)
  ) STRICT;
  CREATE INDEX event_refundable ON event (position, refundable_from)
    WHERE refundable_from IS NOT NULL;
  CREATE INDEX event_by_state ON event (state);
  CREATE INDEX event_by_merchant ON event (merchant, state);
  CREATE INDEX event_by_agent ON event (agent_owner, state);
  `,
  `
  ALTER TABLE event ADD COLUMN signature BLOB;
  ALTER TABLE event ADD COLUMN transaction_slot INTEGER;
  CREATE INDEX event_without_reference ON event (position) WHERE signature IS NULL;
  `,
  TALLY_TABLES,
  numberAddresses,
];
