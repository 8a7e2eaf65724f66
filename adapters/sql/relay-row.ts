import type { Address } from "../../core/domain/address.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type {
  FinalOutcome,
  RelayEntry,
  TransactionError,
} from "../../core/domain/relay/relay-entry.ts";

/** A row of the table `relay`, as either client reads it. */
export type RelayRow = {
  readonly signature: string;
  readonly wire: Uint8Array;
  readonly fee_payer: string;
  readonly last_valid_block_height: bigint | string;
  readonly opened_at_slot: bigint | string;
  readonly opened_at_ms: bigint;
  readonly outcome: FinalOutcome["status"] | null;
  readonly outcome_at: bigint | string | null;
  readonly error: string | null;
};

/** Inserts what `relayValues` gives, unless the signature is recorded. Both dialects take `$1`. */
export const INSERT_RELAY = `INSERT INTO relay
    (signature, wire, fee_payer, last_valid_block_height, opened_at_slot, opened_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (signature) DO NOTHING`;

/** What `INSERT_RELAY` binds. */
export const relayValues = (entry: RelayEntry) =>
  [
    entry.signature,
    entry.transaction,
    entry.feePayer,
    entry.lastValidBlockHeight,
    entry.openedAtSlot,
    entry.openedAtMs,
  ] as const;

/** Records an outcome, unless there is one. */
export const SETTLE_RELAY = `UPDATE relay SET (outcome, outcome_at, error) = ($1, $2, $3)
  WHERE signature = $4 AND outcome IS NULL`;

/** What `SETTLE_RELAY` binds. */
export const outcomeValues = (
  signature: LedgerSignature,
  outcome: FinalOutcome,
): [status: string, at: bigint, error: string | null, signature: string] => {
  const { status, nodes } = outcome;
  if (status === "expired") {
    const { blockHeight, supersededBy } = outcome;
    const told = nodes === undefined ? supersededBy : JSON.stringify({ supersededBy, nodes });
    return [status, blockHeight, told, signature];
  }
  const error = outcome.error === null ? null : JSON.stringify({ ...outcome.error, nodes });
  return [status, outcome.slot, error, signature];
};

type Expired = Extract<FinalOutcome, { status: "expired" }>;
type Landed = Extract<FinalOutcome, { status: "landed" }>;

/** What is told of an expired one: JSON, or as earlier versions wrote it the signature alone. */
const toldOfExpired = (error: string | null): Pick<Expired, "supersededBy" | "nodes"> =>
  error?.startsWith("{") === true
    ? (JSON.parse(error) as Pick<Expired, "supersededBy" | "nodes">)
    : { supersededBy: error as LedgerSignature | null };

/** A landed one's error and how many nodes showed it. */
const toldOfLanded = (json: string): Pick<Landed, "error" | "nodes"> => {
  const { nodes, ...error } = JSON.parse(json) as TransactionError & Pick<Landed, "nodes">;
  return nodes === undefined ? { error } : { error, nodes };
};

const outcomeOf = ({ outcome, outcome_at, error }: RelayRow): FinalOutcome | null => {
  if (outcome === null || outcome_at === null) return null;
  const at = BigInt(outcome_at);
  if (outcome === "expired") return { status: "expired", blockHeight: at, ...toldOfExpired(error) };
  return { status: "landed", slot: at, ...(error === null ? { error } : toldOfLanded(error)) };
};

/** The entry of a row. */
export const relayEntryOf = (row: RelayRow): RelayEntry => ({
  signature: row.signature as LedgerSignature,
  transaction: new Uint8Array(row.wire),
  feePayer: row.fee_payer as Address,
  lastValidBlockHeight: BigInt(row.last_valid_block_height),
  openedAtSlot: BigInt(row.opened_at_slot),
  openedAtMs: Number(row.opened_at_ms),
  outcome: outcomeOf(row),
});
