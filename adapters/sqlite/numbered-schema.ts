import type { Database } from "bun:sqlite";
import { type Address, addressFromBytes } from "../../core/domain/address.ts";
import { addressPrefix, addressPrefixSql } from "./address-prefix.ts";

/**
 * Tables whose rows name addresses by their numbers in `address_book`. An escrow's row says where its events
 * stand, so an event needs no index to be found by its escrow; and what cannot change or follows
 * from the escrow is not repeated in its events.
 *
 * The order of pages is (created_at, address). Indexes hold the address's prefix in its place, which orders all
 * but those few that share a second and a prefix; the rest of each page's order is settled on reading.
 */
const TABLES = `
  CREATE TABLE address_book (
    number INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    prefix INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX address_book_by_prefix ON address_book (prefix);

  CREATE TABLE new_escrow (
    number INTEGER PRIMARY KEY,
    address TEXT NOT NULL,
    address_prefix INTEGER NOT NULL,
    slot INTEGER NOT NULL,
    state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
    bump INTEGER NOT NULL,
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
    proof_hash BLOB,
    attestor INTEGER,
    attested_at INTEGER,
    attestation_signature BLOB,
    created_event INTEGER,
    settled_event INTEGER,
    CHECK ((proof_hash IS NULL) = (attestor IS NULL)
      AND (attestor IS NULL) = (attested_at IS NULL)
      AND (attested_at IS NULL) = (attestation_signature IS NULL))
  ) STRICT;

  CREATE TABLE new_event (
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

  CREATE TABLE new_escrow_tally (
    merchant INTEGER NOT NULL,
    state INTEGER NOT NULL,
    escrows INTEGER NOT NULL,
    PRIMARY KEY (merchant, state)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE new_delivery_tally (
    merchant INTEGER NOT NULL,
    seconds INTEGER NOT NULL,
    deliveries INTEGER NOT NULL,
    PRIMARY KEY (merchant, seconds)
  ) STRICT, WITHOUT ROWID;
`;

/** The rows of the former tables, whose addresses were 32-byte blobs. */
const ROWS = `
  INSERT INTO new_escrow
    SELECT e.number, e.address, ${addressPrefixSql("e.address")}, slot, state, bump,
      agent.number, merchant.number, mint.number, rent_payer.number, task_hash, amount, released,
      created_at, expires_at, settled_at, proof_hash, attestor.number, attested_at, attestation_signature,
      (SELECT position FROM event WHERE escrow = e.address AND kind = 0),
      (SELECT position FROM event WHERE escrow = e.address AND kind > 0)
    FROM escrow e
    JOIN blob_address agent ON agent.bytes = e.agent_owner
    JOIN blob_address merchant ON merchant.bytes = e.merchant
    JOIN blob_address mint ON mint.bytes = e.mint
    JOIN blob_address rent_payer ON rent_payer.bytes = e.rent_payer
    LEFT JOIN blob_address attestor ON attestor.bytes = e.attestor
    ORDER BY e.number;
  INSERT INTO new_event
    SELECT position, escrow.number, kind, agent.number, merchant.number, mint.number, v.amount,
      occurred_at, chain_hash, signature, transaction_slot
    FROM event v
    JOIN escrow ON escrow.address = v.escrow
    JOIN blob_address agent ON agent.bytes = v.agent_owner
    JOIN blob_address merchant ON merchant.bytes = v.merchant
    JOIN blob_address mint ON mint.bytes = v.mint
    ORDER BY position;
  INSERT INTO new_escrow_tally
    SELECT merchant, state, count(*) FROM new_escrow GROUP BY merchant, state;
  INSERT INTO new_delivery_tally
    SELECT merchant, settled_at - created_at, count(*) FROM new_escrow
    WHERE attestor IS NOT NULL GROUP BY 1, 2;
`;

const INDEXES = `
  DROP TABLE blob_address;
  DROP TABLE event;
  DROP TABLE escrow;
  DROP TABLE escrow_tally;
  DROP TABLE delivery_tally;
  ALTER TABLE new_event RENAME TO event;
  ALTER TABLE new_escrow RENAME TO escrow;
  ALTER TABLE new_escrow_tally RENAME TO escrow_tally;
  ALTER TABLE new_delivery_tally RENAME TO delivery_tally;

  CREATE INDEX escrow_by_prefix ON escrow (address_prefix);
  CREATE INDEX escrow_by_state ON escrow (state, created_at, address_prefix, expires_at);
  CREATE INDEX escrow_by_merchant
    ON escrow (merchant, state, created_at, address_prefix, expires_at);
  CREATE INDEX escrow_by_agent
    ON escrow (agent_owner, state, created_at, address_prefix, expires_at);
  CREATE INDEX escrow_refundable ON escrow (created_event, expires_at) WHERE state = 0;
  CREATE INDEX event_by_kind ON event (kind);
  CREATE INDEX event_by_merchant ON event (merchant, kind);
  CREATE INDEX event_by_agent ON event (agent_owner, kind);
`;

/** Every column that named an address in bytes. */
const NAMED = [
  ...["agent_owner", "merchant", "mint", "rent_payer", "attestor"].map((name) => ["escrow", name]),
  ...["agent_owner", "merchant", "mint"].map((name) => ["event", name]),
] as const;

/** Brings a file from addresses in every row to addresses by number. */
export const numberAddresses = (db: Database): void => {
  db.run(TABLES);
  db.run("CREATE TABLE blob_address (bytes BLOB PRIMARY KEY, number INTEGER NOT NULL) STRICT");
  const insert = db.prepare<null, [string, number]>(
    "INSERT INTO address_book (address, prefix) VALUES (?1, ?2)",
  );
  const link = db.prepare<null, [Uint8Array, number | bigint]>(
    "INSERT INTO blob_address VALUES (?1, ?2)",
  );
  const named = db.prepare<{ bytes: Uint8Array }, []>(
    NAMED.map(
      ([table, column]) => `SELECT ${column} AS bytes FROM ${table} WHERE ${column} IS NOT NULL`,
    ).join(" UNION "),
  );
  for (const { bytes } of named.all()) {
    const address: Address = addressFromBytes(bytes);
    link.run(bytes, insert.run(address, addressPrefix(address)).lastInsertRowid);
  }
  for (const statement of [insert, link, named]) statement.finalize();
  db.run(ROWS);
  db.run(INDEXES);
};
