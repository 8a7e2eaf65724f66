import type { Database } from "bun:sqlite";
import type { Address } from "../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { RelayEntry, FinalOutcome } from "../../../core/domain/relay/relay-entry.ts";
import type { TransactionError } from "../../../core/domain/relay/transaction-outcome.ts";

type Row = {
  readonly signature: string;
  readonly wire: Uint8Array;
  readonly fee_payer: string;
  readonly last_valid_block_height: bigint;
  readonly opened_at_slot: bigint;
  readonly opened_at_ms: bigint;
  readonly outcome: FinalOutcome["status"] | null;
  readonly outcome_at: bigint | null;
  readonly error: string | null;
};

const outcomeOf = ({ outcome, outcome_at: at, error }: Row): FinalOutcome | null => {
  if (outcome === null || at === null) return null;
  return outcome === "expired"
    ? { status: "expired", blockHeight: at, supersededBy: error as LedgerSignature | null }
    : {
        status: "landed",
        slot: at,
        error: error === null ? null : (JSON.parse(error) as TransactionError),
      };
};

const entryOf = (row: Row): RelayEntry => ({
  signature: row.signature as LedgerSignature,
  transaction: new Uint8Array(row.wire),
  feePayer: row.fee_payer as Address,
  lastValidBlockHeight: row.last_valid_block_height,
  openedAtSlot: row.opened_at_slot,
  openedAtMs: Number(row.opened_at_ms),
  outcome: outcomeOf(row),
});

/** The relayed transactions of a log's file. */
export const relayTable = (db: Database) => {
  const insert = db.query<null, [string, Uint8Array, string, bigint, bigint, number]>(
    `INSERT INTO relay
       (signature, wire, fee_payer, last_valid_block_height, opened_at_slot, opened_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (signature) DO NOTHING`,
  );
  const update = db.query<null, [string, string, bigint, string | null]>(
    `UPDATE relay SET outcome = ?2, outcome_at = ?3, error = ?4
     WHERE signature = ?1 AND outcome IS NULL`,
  );
  const byName = db.query<Row, [string]>("SELECT * FROM relay WHERE signature = ?1");
  const open = db.query<Row, [number]>(
    "SELECT * FROM relay WHERE outcome IS NULL ORDER BY opened_at_ms LIMIT ?1",
  );
  return {
    /** Whether the entry is new. */
    open: (entry: RelayEntry): boolean =>
      insert.run(
        entry.signature,
        entry.transaction,
        entry.feePayer,
        entry.lastValidBlockHeight,
        entry.openedAtSlot,
        entry.openedAtMs,
      ).changes > 0,
    settle: (signature: LedgerSignature, outcome: FinalOutcome): void => {
      if (outcome.status === "expired")
        update.run(signature, outcome.status, outcome.blockHeight, outcome.supersededBy);
      else {
        const error = outcome.error === null ? null : JSON.stringify(outcome.error);
        update.run(signature, outcome.status, outcome.slot, error);
      }
    },
    find: (signature: LedgerSignature): RelayEntry | null => {
      const row = byName.get(signature);
      return row === null ? null : entryOf(row);
    },
    unsettled: (limit: number): ReadonlyArray<RelayEntry> => open.all(limit).map(entryOf),
  };
};
