import { IDENTITY_TYPES } from "../../sql/ledger-identity.ts";
import type { StoreKind } from "../open-store.ts";

/** Marks a file as this service's relay log: ASCII `SErl` (PRAGMA application_id). */
const APPLICATION_ID = 0x53_45_72_6c;

/**
 * What makes a file the relay's log. A relay's outcome is null while it is open;
 * `outcome_at` is the slot it landed in, or the finalized block height at which it had expired. `error` is the
 * JSON of a landed one's error, and of an expired one the signature of the transaction that superseded it, both with how
 * many nodes told it.
 */
export const OUTCOME_KIND: StoreKind = {
  applicationId: APPLICATION_ID,
  schema: `
  CREATE TABLE ledger (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    ${IDENTITY_TYPES}
  ) STRICT;

  CREATE TABLE relay (
    signature TEXT PRIMARY KEY,
    wire BLOB NOT NULL,
    fee_payer TEXT NOT NULL,
    last_valid_block_height INTEGER NOT NULL,
    opened_at_slot INTEGER NOT NULL,
    opened_at_ms INTEGER NOT NULL,
    outcome TEXT CHECK (outcome IN ('landed', 'expired')),
    outcome_at INTEGER,
    error TEXT,
    CHECK ((outcome IS NULL) = (outcome_at IS NULL))
  ) STRICT;
  CREATE INDEX relay_unsettled ON relay (opened_at_ms) WHERE outcome IS NULL;

  CREATE TABLE idempotency_key (
    client TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    answer TEXT,
    PRIMARY KEY (client, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_key_age ON idempotency_key (claimed_at_ms);
  `,
};
