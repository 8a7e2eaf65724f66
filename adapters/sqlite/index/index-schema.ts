import { IDENTITY_TYPES } from "../../sql/ledger-identity.ts";
import { BODY_AT } from "../../sql/escrow-body.ts";
import { HAS_PROOF, hashKey } from "./escrow-row.ts";
import type { StoreKind } from "../open-store.ts";

/** Marks a file as this service's index: ASCII `SEix` (PRAGMA application_id). */
const APPLICATION_ID = 0x53_45_69_78;

/** The tables of rows that a snapshot fills, each made under any name (see `index-build.ts`). */
export const ROW_TABLES = {
  escrow: (name: string) => `
    CREATE TABLE ${name} (
      created_seq INTEGER PRIMARY KEY,
      settled_seq INTEGER CHECK ((settled_seq IS NULL) = (state = 0)),
      state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
      expires_at INTEGER NOT NULL,
      address_key INTEGER NOT NULL,
      merchant_run INTEGER NOT NULL,
      agent_run INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT`,
  unseen_escrow: (name: string) => `
    CREATE TABLE ${name} (
      created_seq INTEGER PRIMARY KEY,
      settled_seq INTEGER CHECK ((settled_seq IS NULL) = (state = 0)),
      state INTEGER NOT NULL CHECK (state BETWEEN 0 AND 3),
      address BLOB NOT NULL CHECK (length(address) = 32),
      pending_hash BLOB NOT NULL CHECK (length(pending_hash) = 32),
      settled_hash BLOB CHECK ((settled_hash IS NULL) = (state = 0))
    ) STRICT`,
  merchant: (name: string) => `
    CREATE TABLE ${name} (
      address TEXT PRIMARY KEY,
      slot INTEGER NOT NULL,
      account BLOB NOT NULL,
      wallet BLOB NOT NULL CHECK (length(wallet) = 32),
      status INTEGER NOT NULL,
      registered_at INTEGER NOT NULL,
      reputation INTEGER NOT NULL,
      name_key TEXT NOT NULL,
      folded_name TEXT NOT NULL,
      folded_addresses TEXT NOT NULL
    ) STRICT`,
  escrow_tally: (name: string) => `
    CREATE TABLE ${name} (
      merchant TEXT NOT NULL,
      state INTEGER NOT NULL,
      escrows INTEGER NOT NULL,
      PRIMARY KEY (merchant, state)
    ) STRICT, WITHOUT ROWID`,
  delivery_tally: (name: string) => `
    CREATE TABLE ${name} (
      merchant TEXT NOT NULL,
      seconds INTEGER NOT NULL,
      deliveries INTEGER NOT NULL,
      PRIMARY KEY (merchant, seconds)
    ) STRICT, WITHOUT ROWID`,
} as const;
type RowTable = keyof typeof ROW_TABLES;
/** The tables that hold the index's rows; a snapshot replaces all of them together. */
export const ROW_TABLE_NAMES = [
  "escrow",
  "unseen_escrow",
  "merchant",
  "escrow_tally",
  "delivery_tally",
] as const satisfies ReadonlyArray<RowTable>;

/** The indexes of the row tables. A snapshot makes them when its rows are in. */
export const ROW_INDEXES = [
  "CREATE INDEX escrow_by_address ON escrow (address_key)",
  `CREATE INDEX escrow_by_task ON escrow (${hashKey(BODY_AT.taskHash)})`,
  `CREATE INDEX escrow_by_proof ON escrow (${hashKey(BODY_AT.proofHash)}) WHERE ${HAS_PROOF}`,
  "CREATE INDEX escrow_by_state ON escrow (state, created_seq, expires_at)",
  "CREATE INDEX escrow_by_merchant ON escrow (merchant_run, created_seq, expires_at)",
  "CREATE INDEX escrow_by_agent ON escrow (agent_run, created_seq, expires_at)",
  "CREATE INDEX settled_by_state ON escrow (state, settled_seq) WHERE settled_seq IS NOT NULL",
  "CREATE INDEX settled_by_merchant ON escrow (merchant_run, settled_seq) WHERE settled_seq IS NOT NULL",
  "CREATE INDEX settled_by_agent ON escrow (agent_run, settled_seq) WHERE settled_seq IS NOT NULL",
  "CREATE INDEX unseen_settled ON unseen_escrow (settled_seq) WHERE settled_seq IS NOT NULL",
  "CREATE INDEX unseen_by_address ON unseen_escrow (substr(address, 1, 6))",
  "CREATE INDEX merchant_by_registration ON merchant (registered_at, address)",
  "CREATE INDEX merchant_by_name ON merchant (name_key)",
] as const;

/**
 * The index's tables.
 *
 * Escrows are keyed by the number of their creation, so that pages, newest first, read rows that lie side by side. A
 * row's `body` is its account's bytes, address and digests (`adapters/sql/escrow-body.ts`); the columns beside it only
 * repeat what rows are searched by. A run is a party's key and a state (`escrow-row.ts`). `expires_at` rides along in
 * the indexes, so that refundable escrows are found without touching rows. There is no table of events: an event is the
 * creation or the settlement of a row, and only its transaction, which the account does not name, is kept apart.
 *
 * Times are unix seconds, states and statuses the numbers that the ledger's accounts use, amounts as in columns.ts.
 *
 * The tallies are what the registry counts of each merchant wallet, so that a page of it costs the same however many
 * escrows there are: escrows by state, and single payments by their seconds, of which an escrow's greatest time to live
 * allows 604,800.
 */
const SCHEMA = `
  CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ${IDENTITY_TYPES},
    escrows INTEGER NOT NULL DEFAULT 0,
    unseen INTEGER NOT NULL DEFAULT 0,
    merchants INTEGER NOT NULL DEFAULT 0,
    mark_count INTEGER,
    mark_frontier BLOB CHECK (length(mark_frontier) = 1280),
    mark_slot INTEGER,
    mark_ledger_time INTEGER,
    mark_at_ms INTEGER,
    pace_slot INTEGER,
    pace_at_ms INTEGER,
    snapshot_at_ms INTEGER,
    CHECK ((mark_count IS NULL) = (mark_frontier IS NULL) AND (mark_count IS NULL) = (mark_slot IS NULL)
      AND (mark_count IS NULL) = (mark_ledger_time IS NULL) AND (mark_count IS NULL) = (mark_at_ms IS NULL))
  ) STRICT;

  CREATE TABLE event_transaction (
    position INTEGER PRIMARY KEY,
    signature BLOB NOT NULL CHECK (length(signature) = 64),
    slot INTEGER NOT NULL
  ) STRICT;

  ${[...ROW_TABLE_NAMES.map((table) => ROW_TABLES[table](table)), ...ROW_INDEXES].join(";\n")};
`;

/** What makes a file an index. Pages of 8 KiB: a snapshot takes a sixth less than with SQLite's 4 KiB. */
export const INDEX_KIND: StoreKind = {
  applicationId: APPLICATION_ID,
  schema: SCHEMA,
  pageBytes: 8192,
};
