/**
 * The index's tables. A row's own address is base58 text, because that is what pages are ordered by (collation "C"); other
 * addresses and hashes are 32 bytes. NUMERIC(20) holds a u64: exact, and so are its sums. Times are unix
 * seconds, state and status the numbers that the ledger's accounts use.
 *
 * `ledger` and `sync_lease` have one row each. The counts and the newest link of the event chain stand in
 * `ledger`: a batch locks that row first, so batches come one after the other, positions have no holes
 * and a rolled back batch leaves none. `sync_lease.epoch` is a key, and everything else in its row is
 * not, so that a batch which holds the epoch (FOR KEY SHARE) keeps a new term waiting, but neither a
 * renewal nor a request for a sync.
 *
 * Indexes lead with a filter's columns, then `state`, then the page order: a query without a state merges
 * the runs of its states, which are each in order already. An event's `refundable_from` is its escrow's
 * expiry while that is Pending, null otherwise.
 */
export const INDEX_TABLES = `
  CREATE TABLE ledger (
    one BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    genesis_hash TEXT NOT NULL,
    custody_program TEXT NOT NULL,
    attestor_program TEXT NOT NULL,
    escrows INT8 NOT NULL DEFAULT 0,
    merchants INT8 NOT NULL DEFAULT 0,
    events INT8 NOT NULL DEFAULT 0,
    chain_hash BYTEA NOT NULL CHECK (length(chain_hash) = 32),
    mark_slot NUMERIC(20),
    mark_ledger_time INT8,
    mark_at_ms INT8,
    CHECK ((mark_slot IS NULL) = (mark_ledger_time IS NULL)
      AND (mark_slot IS NULL) = (mark_at_ms IS NULL))
  );

  CREATE TABLE sync_lease (
    epoch INT8 PRIMARY KEY,
    holder TEXT,
    held_until TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    asked INT8 NOT NULL DEFAULT 0,
    answered INT8 NOT NULL DEFAULT 0,
    outcome TEXT
  );
  CREATE UNIQUE INDEX sync_lease_one ON sync_lease ((true));
  INSERT INTO sync_lease (epoch) VALUES (0);

  CREATE TABLE escrow (
    address TEXT COLLATE "C" PRIMARY KEY,
    slot NUMERIC(20) NOT NULL,
    state INT2 NOT NULL CHECK (state BETWEEN 0 AND 3),
    bump INT2 NOT NULL,
    vault_bump INT2 NOT NULL,
    agent_owner BYTEA NOT NULL CHECK (length(agent_owner) = 32),
    merchant BYTEA NOT NULL CHECK (length(merchant) = 32),
    mint BYTEA NOT NULL CHECK (length(mint) = 32),
    rent_payer BYTEA NOT NULL CHECK (length(rent_payer) = 32),
    task_hash BYTEA NOT NULL CHECK (length(task_hash) = 32),
    amount NUMERIC(20) NOT NULL,
    released NUMERIC(20) NOT NULL,
    created_at INT8 NOT NULL,
    expires_at INT8 NOT NULL,
    settled_at INT8 CHECK ((settled_at IS NULL) = (state = 0)),
    attestor BYTEA NOT NULL CHECK (length(attestor) = 32),
    proof_hash BYTEA,
    attested_at INT8,
    attestation_signature BYTEA,
    created_seq NUMERIC(20) NOT NULL,
    settled_seq NUMERIC(20) CHECK ((settled_seq IS NULL) = (state = 0)),
    delivery_seconds INT8 GENERATED ALWAYS AS
      (CASE WHEN proof_hash IS NULL THEN NULL ELSE settled_at - created_at END) STORED,
    CHECK ((proof_hash IS NULL) = (attested_at IS NULL)
      AND (attested_at IS NULL) = (attestation_signature IS NULL))
  );
  CREATE INDEX escrow_by_state ON escrow (state, created_at, address);
  CREATE INDEX escrow_by_merchant ON escrow (merchant, state, created_at, address);
  CREATE INDEX escrow_by_agent ON escrow (agent_owner, state, created_at, address);
  CREATE INDEX escrow_deliveries ON escrow (merchant, delivery_seconds) INCLUDE (released)
    WHERE delivery_seconds IS NOT NULL;

  CREATE TABLE merchant (
    address TEXT COLLATE "C" PRIMARY KEY,
    slot NUMERIC(20) NOT NULL,
    bump INT2 NOT NULL,
    wallet BYTEA NOT NULL CHECK (length(wallet) = 32),
    name TEXT NOT NULL,
    status INT2 NOT NULL,
    attestor BYTEA NOT NULL CHECK (length(attestor) = 32),
    previous_attestor BYTEA,
    attestor_since INT8 NOT NULL,
    registered_at INT8 NOT NULL,
    updated_at INT8 NOT NULL,
    reputation INT8 NOT NULL,
    slashes INT8 NOT NULL,
    deliveries NUMERIC(20) NOT NULL,
    partial_deliveries NUMERIC(20) NOT NULL,
    volume NUMERIC(20) NOT NULL,
    revoked_seq NUMERIC(20) NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    folded_name TEXT COLLATE "C" NOT NULL,
    folded_addresses TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX merchant_by_registration ON merchant (registered_at, address);
  CREATE INDEX merchant_by_name ON merchant (name_key);

  CREATE TABLE event (
    position INT8 PRIMARY KEY,
    escrow TEXT COLLATE "C" NOT NULL,
    kind INT2 NOT NULL,
    state INT2 NOT NULL,
    agent_owner BYTEA NOT NULL CHECK (length(agent_owner) = 32),
    merchant BYTEA NOT NULL CHECK (length(merchant) = 32),
    mint BYTEA NOT NULL CHECK (length(mint) = 32),
    amount NUMERIC(20) NOT NULL,
    proof_hash BYTEA,
    occurred_at INT8 NOT NULL,
    chain_hash BYTEA NOT NULL CHECK (length(chain_hash) = 32),
    refundable_from INT8,
    signature BYTEA CHECK (length(signature) = 64),
    slot NUMERIC(20) CHECK ((slot IS NULL) = (signature IS NULL)),
    UNIQUE (escrow, kind)
  );
  CREATE INDEX event_by_state ON event (state, position);
  CREATE INDEX event_by_merchant ON event (merchant, state, position);
  CREATE INDEX event_by_agent ON event (agent_owner, state, position);
  CREATE INDEX event_refundable ON event (position) WHERE refundable_from IS NOT NULL;
  CREATE INDEX event_unreferenced ON event (position) WHERE signature IS NULL;
`;
