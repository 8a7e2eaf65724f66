import { addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import { ESCROW_STATES, type EscrowState } from "../../core/domain/escrow/escrow.ts";
import type { UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import { eventLeafOf } from "../../core/log/leaf/event-leaf.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { EscrowFilter } from "../../ports/index/index-reader.ts";

/** A u64 that a store holds: an INTEGER with the same 64 bits, or the text of a NUMERIC. */
export const u64Of = (column: bigint | string): bigint => BigInt.asUintN(64, BigInt(column));

/** The number by which a state stands in a store. */
export const stateNumber = (state: EscrowState): number => ESCROW_STATES.indexOf(state);

/** The state that a number in a store stands for. @throws Error for another number. */
export const stateOf = (column: number | bigint): EscrowState => {
  const state = ESCROW_STATES[Number(column)];
  if (state === undefined) throw new Error("the schema allows no other state");
  return state;
};

/** The states that a filter's escrows may have: a refundable one is Pending. */
export const statesOf = ({ state, refundableAt }: EscrowFilter): ReadonlyArray<EscrowState> =>
  ESCROW_STATES.filter(
    (one) =>
      (state === undefined || state === one) && (refundableAt === undefined || one === "Pending"),
  );

/** A row of the table of unseen escrows, as either client reads it. */
export type UnseenRow = {
  readonly created_seq: bigint;
  readonly settled_seq: bigint | null;
  readonly state: number | bigint;
  readonly address: Uint8Array;
  readonly pending_hash: Uint8Array;
  readonly settled_hash: Uint8Array | null;
};

/** The columns of an `UnseenRow` and their types in PostgreSQL, in the order of `unseenValues`. */
export const UNSEEN_TYPES = {
  created_seq: "INT8",
  settled_seq: "INT8",
  state: "INT2",
  address: "BYTEA",
  pending_hash: "BYTEA",
  settled_hash: "BYTEA",
} as const;

/** Their names, as a list in SQL. */
export const UNSEEN_COLUMNS = Object.keys(UNSEEN_TYPES).join(", ");

/** The columns' values of an unseen escrow. */
export const unseenValues = (row: UnseenEscrow) =>
  [
    row.createdSeq,
    row.settledSeq,
    stateNumber(row.state),
    addressToBytes(row.address),
    row.pendingHash,
    row.settledHash,
  ] as const;

/** The unseen escrow of a row. */
export const unseenOf = (row: UnseenRow): UnseenEscrow => ({
  address: addressFromBytes(row.address),
  state: stateOf(row.state),
  createdSeq: row.created_seq,
  settledSeq: row.settled_seq,
  pendingHash: new Uint8Array(row.pending_hash),
  settledHash: row.settled_hash && new Uint8Array(row.settled_hash),
});

/** The transaction of an event that a row names, undefined for none. */
export const transactionIn = (row: {
  readonly signature: Uint8Array | null;
  readonly slot: bigint | string | null;
}) =>
  row.signature === null || row.slot === null
    ? undefined
    : { signature: ledgerSignatureFromBytes(row.signature), slot: u64Of(row.slot) };

/** What a row says of one leaf of the log. */
export type LeafRow = {
  readonly seq: bigint;
  readonly state: number | bigint;
  readonly address: Uint8Array;
  readonly hash: Uint8Array;
};

/** The leaves of rows that ascend from `from`, up to the first that is missing. */
export const leavesUpToGap = (
  rows: ReadonlyArray<LeafRow>,
  from: bigint,
): ReadonlyArray<Uint8Array> => {
  const gap = rows.findIndex(({ seq }, at) => seq !== from + BigInt(at));
  return rows
    .slice(0, gap < 0 ? rows.length : gap)
    .map(({ state, address, hash }) => eventLeafOf(stateOf(state), address, hash));
};
