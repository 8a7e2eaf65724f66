import type { Address } from "../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { RelayEntry, FinalOutcome } from "../../../core/domain/relay/relay-entry.ts";
import type { TransactionError } from "../../../core/domain/relay/transaction-outcome.ts";
import { type Queries, rowsOf } from "../queries.ts";

type Row = {
  readonly signature: string;
  readonly wire: Uint8Array;
  readonly fee_payer: string;
  readonly last_valid_block_height: string;
  readonly opened_at_slot: string;
  readonly opened_at_ms: bigint;
  readonly outcome: FinalOutcome["status"] | null;
  readonly outcome_at: string | null;
  readonly error: string | null;
};

const outcomeOf = ({ outcome, outcome_at, error }: Row): FinalOutcome | null => {
  if (outcome === null || outcome_at === null) return null;
  const at = BigInt(outcome_at);
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
  lastValidBlockHeight: BigInt(row.last_valid_block_height),
  openedAtSlot: BigInt(row.opened_at_slot),
  openedAtMs: Number(row.opened_at_ms),
  outcome: outcomeOf(row),
});

/** Records a transaction and says whether it is new. */
export const openRelay = async (sql: Queries, entry: RelayEntry): Promise<boolean> => {
  const inserted = await rowsOf(
    sql,
    `INSERT INTO relay
       (signature, wire, fee_payer, last_valid_block_height, opened_at_slot, opened_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (signature) DO NOTHING RETURNING signature`,
    [
      entry.signature,
      entry.transaction,
      entry.feePayer,
      entry.lastValidBlockHeight,
      entry.openedAtSlot,
      entry.openedAtMs,
    ],
  );
  return inserted.length > 0;
};

/** Records an outcome, unless there is one. */
export const settleRelay = async (
  sql: Queries,
  signature: LedgerSignature,
  outcome: FinalOutcome,
): Promise<void> => {
  const landed = outcome.status === "landed";
  const failure = landed && outcome.error !== null ? JSON.stringify(outcome.error) : null;
  const error = landed ? failure : outcome.supersededBy;
  await rowsOf(
    sql,
    `UPDATE relay SET outcome = $2, outcome_at = $3, error = $4
     WHERE signature = $1 AND outcome IS NULL`,
    [signature, outcome.status, landed ? outcome.slot : outcome.blockHeight, error],
  );
};

/** The entry of a signature, null for one that is not recorded. */
export const findRelay = async (
  sql: Queries,
  signature: LedgerSignature,
): Promise<RelayEntry | null> => {
  const [row] = await rowsOf<Row>(sql, "SELECT * FROM relay WHERE signature = $1", [signature]);
  return row === undefined ? null : entryOf(row);
};

/** Entries without an outcome, oldest first. */
export const unsettledRelays = async (
  sql: Queries,
  limit: number,
): Promise<ReadonlyArray<RelayEntry>> =>
  (
    await rowsOf<Row>(
      sql,
      "SELECT * FROM relay WHERE outcome IS NULL ORDER BY opened_at_ms LIMIT $1",
      [limit],
    )
  ).map((row) => entryOf(row));
