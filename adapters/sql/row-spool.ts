import { join } from "node:path";
import { addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import { ESCROW_STATES, type EscrowState } from "../../core/domain/escrow/escrow.ts";
import type { UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import { EVENT_LEAF_LENGTH, writeEventLeaf } from "../../core/log/leaf/event-leaf.ts";
import type { IndexChanges, LeafSink } from "../../ports/index/index-writer.ts";
import { stateNumber } from "./index-rows.ts";
import { OrderedSpool } from "../bun/ordered-spool.ts";
import { BODY_AT, encodeBody, encodedAddress, isSettledBody } from "./escrow-body.ts";

/** A row in the order of `created_seq`: an escrow's body, or an escrow of which nobody has shown the bytes. */
export type SpooledRow =
  | { readonly kind: "escrow"; readonly body: Uint8Array }
  | { readonly kind: "unseen"; readonly row: UnseenEscrow };

/** Bytes that a spool adds to a record: its header, and up to a whole word. */
const SPOOLED_BYTES = 9;
/**
 * Bytes that a bucket of a spool holds. Several buckets that were read wait for the garbage collector: at 400,000
 * escrows, buckets of 64 MiB took 240 MiB, and these take 105 MiB.
 */
const BUCKET_BYTES = 8 * 1024 * 1024;
/** Every number has a leaf. One that created an escrow can have a row as well, at least as long as a Pending one's. */
const ROWS_PER_BUCKET = Math.floor(BUCKET_BYTES / (BODY_AT.settledHash + SPOOLED_BYTES));
const LEAVES_PER_BUCKET = Math.floor(BUCKET_BYTES / (EVENT_LEAF_LENGTH + SPOOLED_BYTES));

/** A leaf on its way into the spool, which copies it. */
const leaf = new Uint8Array(EVENT_LEAF_LENGTH);

/** Where the fields of an unseen row stand in the spool: address, pending hash, state, settled number and hash. */
const UNSEEN_AT = { pendingHash: 32, state: 64, settledSeq: 65, settledHash: 73 } as const;
const UNSEEN_LENGTH = UNSEEN_AT.settledHash + 32;

const encodeUnseen = (row: UnseenEscrow): Uint8Array => {
  const bytes = Buffer.alloc(UNSEEN_LENGTH);
  bytes.set(addressToBytes(row.address));
  bytes.set(row.pendingHash, UNSEEN_AT.pendingHash);
  bytes[UNSEEN_AT.state] = stateNumber(row.state);
  if (row.settledSeq === null || row.settledHash === null) return bytes;
  bytes.writeBigUInt64BE(row.settledSeq, UNSEEN_AT.settledSeq);
  bytes.set(row.settledHash, UNSEEN_AT.settledHash);
  return bytes;
};

const decodeUnseen = (seq: number, bytes: Uint8Array): UnseenEscrow => {
  const buffer = Buffer.from(bytes);
  const state = ESCROW_STATES[bytes[UNSEEN_AT.state] ?? -1];
  if (state === undefined) throw new Error("no row of another state is ever spooled");
  const isSettled = state !== "Pending";
  return {
    address: addressFromBytes(buffer.subarray(0, 32)),
    state,
    createdSeq: BigInt(seq),
    settledSeq: isSettled ? buffer.readBigUInt64BE(UNSEEN_AT.settledSeq) : null,
    pendingHash: buffer.subarray(UNSEEN_AT.pendingHash, UNSEEN_AT.state),
    settledHash: isSettled ? buffer.subarray(UNSEEN_AT.settledHash) : null,
  };
};

const rowOf = (seq: number, bytes: Uint8Array): SpooledRow =>
  bytes.length === UNSEEN_LENGTH
    ? { kind: "unseen", row: decodeUnseen(seq, bytes) }
    : { kind: "escrow", body: bytes };

/**
 * Of several rows of one number, the one with the greatest rank stays. A settled row comes before a Pending one,
 * because the log has a leaf of the settlement. Then one with all its fields comes before an unseen one.
 */
const rankOf = (bytes: Uint8Array): number => {
  if (bytes.length !== UNSEEN_LENGTH) return isSettledBody(bytes) ? 3 : 1;
  return bytes[UNSEEN_AT.state] === stateNumber("Pending") ? 0 : 2;
};

/**
 * The rows and leaves of a snapshot on their way into order, on disk. They come as the ledger lists its accounts, so in
 * no order, and tables and indexes are made several times faster of rows in order.
 */
export class RowSpool {
  readonly #rows: OrderedSpool;
  readonly #leaves: OrderedSpool;

  /** Keeps its files in `folder`, which must be its own. */
  constructor(folder: string) {
    this.#rows = new OrderedSpool(join(folder, "rows"), ROWS_PER_BUCKET);
    this.#leaves = new OrderedSpool(join(folder, "leaves"), LEAVES_PER_BUCKET);
  }

  #addLeaf(seq: bigint, state: EscrowState, address: Uint8Array, accountHash: Uint8Array): void {
    this.#leaves.append(Number(seq), writeEventLeaf(leaf, state, address, accountHash));
  }

  #addLeaves(row: UnseenEscrow, address: Uint8Array): void {
    this.#addLeaf(row.createdSeq, "Pending", address, row.pendingHash);
    if (row.settledSeq !== null && row.settledHash !== null)
      this.#addLeaf(row.settledSeq, row.state, address, row.settledHash);
  }

  /** Adds rows in any order; `atOnce` of them in a step. */
  *add(
    { escrows, unseen }: Pick<IndexChanges, "escrows" | "unseen">,
    atOnce: number,
  ): Generator<void, void> {
    for (const [at, row] of escrows.entries()) {
      this.#rows.append(Number(row.createdSeq), encodeBody(row));
      this.#addLeaves(row, encodedAddress);
      if (at % atOnce === 0) yield;
    }
    for (const [at, row] of unseen.entries()) {
      this.#rows.append(Number(row.createdSeq), encodeUnseen(row));
      this.#addLeaves(row, addressToBytes(row.address));
      if (at % atOnce === 0) yield;
    }
  }

  /** Shows all leaves in ascending order, also several of one number; `atOnce` of them in a step. */
  *leaves(sink: LeafSink, atOnce: number): Generator<void, void> {
    let shown = 0;
    for (const { seq, bytes } of this.#leaves.ascending()) {
      sink(BigInt(seq), bytes);
      if (++shown % atOnce === 0) yield;
    }
  }

  /** One row for each number, ascending: the one with the greatest rank, and among equals the last that came. */
  *rows(): Generator<SpooledRow, void> {
    let last: { readonly seq: number; readonly bytes: Uint8Array } | null = null;
    for (const record of this.#rows.ascending()) {
      if (last !== null && last.seq === record.seq) {
        if (rankOf(record.bytes) < rankOf(last.bytes)) continue;
      } else if (last !== null) yield rowOf(last.seq, last.bytes);
      last = record;
    }
    if (last !== null) yield rowOf(last.seq, last.bytes);
  }
}
