import { BODY_AT } from "../../sql/escrow-body.ts";
import { IDENTITY_TYPES } from "../../sql/ledger-identity.ts";

/** SQL for the first eight bytes of a hash in an account, which its index is of. */
export const hashKey = (begin: number): string => `substring(account FROM ${begin + 1} FOR 8)`;

/**
 * Tables whose columns are NOT NULL unless a part of a row's life lacks them. Addresses and hashes are 32 bytes, but
 * for a merchant's own address: base58 text, because pages are ordered by it (collation "C"). NUMERIC(20) holds a u64:
 * exact, and so are its sums. Numbers of events are INT8. Times are unix seconds, state and status the numbers that the
 * ledger's accounts use.
 *
 * `ledger` and `sync_lease` have one row each. Writers lock the row of `ledger` first, so they come one after the
 * other. `building` names the build on its way; nothing is shown while there is no mark. `sync_lease.epoch` is a key,
 * and everything else in its row is not: whoever holds the epoch (FOR KEY SHARE) keeps a new term waiting, but neither
 * a renewal nor a request for a sync.
 *
 * An escrow's row is its account's bytes, and the columns that it is searched by. `delivery_seconds` is the time from
 * its creation to its delivery.
 *
 * An event has no row: it is the `created_seq` or the `settled_seq` of its escrow's row. `created_referenced` and
 * `settled_referenced` say whether `event_transaction` has the event, so that the others are found without a search.
 *
 * The tallies count each merchant's escrows by state, and its single payments by their seconds, of which an escrow's
 * greatest time to live allows 604,800. So a page of the registry costs the same however many escrows there are.
 */
const TABLES = `
  CREATE TABLE ledger (
    one BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    ${IDENTITY_TYPES},
    escrows INT8 NOT NULL DEFAULT 0,
    unseen INT8 NOT NULL DEFAULT 0,
    merchants INT8 NOT NULL DEFAULT 0,
    building UUID,
    mark_count INT8,
    mark_frontier BYTEA CHECK (length(mark_frontier) = 1280),
    mark_slot NUMERIC(20),
    mark_ledger_time INT8,
    mark_at_ms INT8,
    pace_slot NUMERIC(20),
    pace_at_ms INT8,
    snapshot_at_ms INT8,
    CHECK (num_nulls(mark_count, mark_frontier, mark_slot, mark_ledger_time, mark_at_ms) IN (0, 5)),
    CHECK (building IS NULL OR mark_count IS NULL)
  );

  CREATE TABLE sync_lease (
    epoch INT8 PRIMARY KEY,
    holder TEXT,
    held_until TIMESTAMPTZ NOT NULL DEFAULT '-infinity',
    asked INT8 NOT NULL DEFAULT 0,
    answered INT8 NOT NULL DEFAULT 0,
    snapshot_asked INT8 NOT NULL DEFAULT 0,
    outcome TEXT
  );
  CREATE UNIQUE INDEX sync_lease_one ON sync_lease ((true));
  INSERT INTO sync_lease (epoch) VALUES (0);

  CREATE TABLE escrow (
    created_seq INT8 PRIMARY KEY,
    settled_seq INT8 CHECK (settled_seq > created_seq),
    expires_at INT8 NOT NULL,
    delivery_seconds INT8 CHECK ((delivery_seconds IS NULL) = (state IN (0, 2))),
    state INT2 NOT NULL CHECK (state BETWEEN 0 AND 3),
    created_referenced BOOLEAN NOT NULL DEFAULT false,
    settled_referenced BOOLEAN NOT NULL DEFAULT false,
    address BYTEA NOT NULL,
    agent_owner BYTEA NOT NULL,
    merchant BYTEA NOT NULL,
    pending_hash BYTEA NOT NULL,
    settled_hash BYTEA,
    account BYTEA NOT NULL,
    CHECK (num_nulls(settled_seq, settled_hash) = CASE state WHEN 0 THEN 2 ELSE 0 END)
  );

  CREATE TABLE unseen_escrow (
    created_seq INT8 PRIMARY KEY,
    settled_seq INT8 CHECK (settled_seq > created_seq),
    state INT2 NOT NULL CHECK (state BETWEEN 0 AND 3),
    address BYTEA NOT NULL,
    pending_hash BYTEA NOT NULL,
    settled_hash BYTEA,
    CHECK (num_nulls(settled_seq, settled_hash) = CASE state WHEN 0 THEN 2 ELSE 0 END)
  );

  CREATE TABLE event_transaction (
    position INT8 PRIMARY KEY,
    signature BYTEA NOT NULL CHECK (length(signature) = 64),
    slot NUMERIC(20) NOT NULL
  );

  CREATE TABLE merchant (
    address TEXT COLLATE "C" PRIMARY KEY,
    slot NUMERIC(20) NOT NULL,
    account BYTEA NOT NULL,
    wallet BYTEA NOT NULL,
    status INT2 NOT NULL,
    registered_at INT8 NOT NULL,
    reputation INT8 NOT NULL,
    name_key TEXT COLLATE "C" NOT NULL,
    folded_name TEXT COLLATE "C" NOT NULL,
    folded_addresses TEXT COLLATE "C" NOT NULL
  );
  CREATE INDEX merchant_by_registration ON merchant (registered_at, address);
  CREATE INDEX merchant_by_name ON merchant (name_key);

  CREATE TABLE escrow_tally (
    merchant BYTEA NOT NULL,
    state INT2 NOT NULL,
    escrows INT8 NOT NULL,
    PRIMARY KEY (merchant, state)
  );
  CREATE TABLE delivery_tally (
    merchant BYTEA NOT NULL,
    seconds INT8 NOT NULL,
    deliveries INT8 NOT NULL,
    PRIMARY KEY (merchant, seconds)
  );
`;

/** The tables that a snapshot fills, and a build empties first. */
export const FILLED_TABLES = [
  "escrow",
  "unseen_escrow",
  "event_transaction",
  "merchant",
  "escrow_tally",
  "delivery_tally",
] as const;

type EscrowIndex = { readonly name: string; readonly on: string; readonly unique?: true };

/**
 * The indexes of escrows, which a build makes last. Each page is a run of one of them, or a merge of the runs of
 * several states. An expiry at the end lets a search for refundable escrows pass over the others without reading their
 * rows.
 */
export const ESCROW_INDEXES: ReadonlyArray<EscrowIndex> = [
  { name: "escrow_by_address", on: "escrow (address)", unique: true },
  { name: "escrow_by_task", on: `escrow ((${hashKey(BODY_AT.taskHash)}))` },
  {
    name: "escrow_by_proof",
    on: `escrow ((${hashKey(BODY_AT.proofHash)})) WHERE delivery_seconds IS NOT NULL`,
  },
  { name: "escrow_by_state", on: "escrow (state, created_seq, expires_at)" },
  { name: "escrow_by_merchant", on: "escrow (merchant, state, created_seq, expires_at)" },
  { name: "escrow_by_agent", on: "escrow (agent_owner, state, created_seq, expires_at)" },
  { name: "settled", on: "escrow (settled_seq) WHERE settled_seq IS NOT NULL", unique: true },
  {
    name: "settled_by_state",
    on: "escrow (state, settled_seq) WHERE settled_seq IS NOT NULL",
  },
  {
    name: "settled_by_merchant",
    on: "escrow (merchant, state, settled_seq) WHERE settled_seq IS NOT NULL",
  },
  {
    name: "settled_by_agent",
    on: "escrow (agent_owner, state, settled_seq) WHERE settled_seq IS NOT NULL",
  },
  { name: "created_unreferenced", on: "escrow (created_seq) WHERE NOT created_referenced" },
  {
    name: "settled_unreferenced",
    on: "escrow (settled_seq) WHERE settled_seq IS NOT NULL AND NOT settled_referenced",
  },
  {
    name: "unseen_settled",
    on: "unseen_escrow (settled_seq) WHERE settled_seq IS NOT NULL",
    unique: true,
  },
  { name: "unseen_by_address", on: "unseen_escrow (address)" },
];

/** The statement that makes an index that is not there. */
export const createIndex = ({ name, on, unique }: EscrowIndex): string =>
  `CREATE ${unique ? "UNIQUE " : ""}INDEX IF NOT EXISTS ${name} ON ${on}`;

/** The index's tables with their indexes. */
export const INDEX_TABLES = [TABLES, ...ESCROW_INDEXES.map(createIndex), ""].join(";\n");
