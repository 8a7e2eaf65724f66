import type { Migration } from "./open-store.ts";

/** Marks a file as this service's index: ASCII `SEix` (PRAGMA application_id). */
export const INDEX_APPLICATION_ID = 0x53_45_69_78;

/**
 * The steps from an empty file to the newest schema; `PRAGMA user_version` counts those taken. Steps
 * are only ever added at the end.
 *
 * `number` and `position` are rowids: rows are never deleted, so they grow without holes and the highest is also
 * the count. Rows name addresses by their numbers in `address_book`; an escrow's and a merchant's own address is base58
 * text, because pages are ordered by it. Times are unix seconds, state and status the numbers that the
 * ledger's accounts use, amounts and event numbers as in columns.ts.
 *
 * An escrow's row says where its events stand, so an event needs no index to be found by its escrow; and what cannot
 * change or follows from the escrow is not repeated in its events.
 *
 * The order of pages is (created_at, address). Indexes hold the address's prefix in its place, which orders all
 * but those few that share a second and a prefix; the rest of each page's order is settled on reading. They lead with a
 * filter's columns, then `state`: a query without a state merges the four states' runs, which are each in order
 * already. `expires_at` rides along so that refundable escrows are found without touching the rows.
 *
 * The tallies are what the registry counts of each merchant, so that a page of it costs the same however many
 * escrows there are: escrows by state, and deliveries by their seconds, of which an escrow's greatest time to
 * live allows 604,800.
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

  CREATE TABLE address_book (
    number INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    prefix INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX address_book_by_prefix ON address_book (prefix);

  CREATE TABLE escrow (
    number INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    address_prefix INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    bump INTEGER NOT NULL,
    vault_bump INTEGER NOT NULL,
    agent_owner INTEGER NOT NULL,
    merchant INTEGER NOT NULL,
    mint INTEGER NOT NULL,
    rent_payer INTEGER NOT NULL,
    task_hash BLOB NOT NULL CHECK (length(task_hash) = 32),
    amount INTEGER NOT NULL,
    released INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    settled_at INTEGER CHECK ((settled_at IS NULL) = (state = 0)),
    attestor INTEGER NOT NULL,
    proof_hash BLOB,
    attested_at INTEGER,
    attestation_signature BLOB,
    created_seq INTEGER NOT NULL,
    settled_seq INTEGER CHECK ((settled_seq IS NULL) = (state = 0)),
    created_event INTEGER,
    settled_event INTEGER,
    CHECK ((proof_hash IS NULL) = (attested_at IS NULL)
      AND (attested_at IS NULL) = (attestation_signature IS NULL))
  ) STRICT;
  CREATE INDEX escrow_by_prefix ON escrow (address_prefix);
  CREATE INDEX escrow_by_state ON escrow (state, created_at, address_prefix, expires_at);
  CREATE INDEX escrow_by_merchant
    ON escrow (merchant, state, created_at, address_prefix, expires_at);
  CREATE INDEX escrow_by_agent
    ON escrow (agent_owner, state, created_at, address_prefix, expires_at);
  CREATE INDEX escrow_refundable ON escrow (created_event, expires_at) WHERE state = 0;

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
    revoked_seq INTEGER NOT NULL,
    name_key TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    folded_addresses TEXT NOT NULL
  ) STRICT;
  CREATE INDEX merchant_by_registration ON merchant (registered_at, address);
  CREATE INDEX merchant_by_name ON merchant (name_key);

  CREATE TABLE event (
    position INTEGER PRIMARY KEY,
    escrow INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    agent_owner INTEGER NOT NULL,
    merchant INTEGER NOT NULL,
    mint INTEGER NOT NULL,
    amount INTEGER NOT NULL,
    occurred_at INTEGER NOT NULL,
    chain_hash BLOB NOT NULL CHECK (length(chain_hash) = 32),
    signature BLOB,
    transaction_slot INTEGER
  ) STRICT;
  CREATE INDEX event_by_kind ON event (kind);
  CREATE INDEX event_by_merchant ON event (merchant, kind);
  CREATE INDEX event_by_agent ON event (agent_owner, kind);

  CREATE TABLE escrow_tally (
    merchant INTEGER NOT NULL,
    state INTEGER NOT NULL,
    escrows INTEGER NOT NULL,
    PRIMARY KEY (merchant, state)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE delivery_tally (
    merchant INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (merchant, seconds)
  ) STRICT, WITHOUT ROWID;
  `,
];
