import { join } from "node:path";
import { leavesOfIndexed, leavesOfUnseen } from "../../../../core/log/leaf/indexed-leaves.ts";
import type { NumberedLeaf } from "../../../../core/log/leaf/escrow-leaves.ts";
import type { IndexChanges, LeafSink } from "../../../../ports/index/index-writer.ts";
import { OrderedSpool } from "../../../bun/ordered-spool.ts";
import { CopyChunk, copyRow } from "./copy-rows.ts";
import { ESCROW_COLUMNS, escrowValues } from "../escrow-row.ts";
import { unseenValues } from "../../../sql/index-rows.ts";
import { UNSEEN_COLUMNS } from "../put-escrows.ts";

/** A row's first byte tells what stands in its place if it comes again: a settled one, then one with all its fields. */
const SETTLED = 2;
const SEEN = 1;

/** Numbers in a bucket: some 8 MiB of rows, and as many of leaves. Buckets that were read wait for the garbage collector. */
const ROWS_A_BUCKET = 16 * 1024;
const LEAVES_A_BUCKET = 96 * 1024;

/** The rows of a build and the leaves of their events, on disk until they can be read in order. */
export class RowSpool {
  readonly #rows: OrderedSpool;
  readonly #leaves: OrderedSpool;

  /** Keeps its files in `folder`, which must be its own. */
  constructor(folder: string) {
    this.#rows = new OrderedSpool(join(folder, "rows"), ROWS_A_BUCKET);
    this.#leaves = new OrderedSpool(join(folder, "leaves"), LEAVES_A_BUCKET);
  }

  /** Adds rows in any order. It yields between portions, so that others may run. */
  *add(
    { escrows, unseen }: Pick<IndexChanges, "escrows" | "unseen">,
    atOnce: number,
  ): Generator<void, void> {
    for (const [at, row] of escrows.entries()) {
      const { createdSeq, settledSeq } = row;
      const first = SEEN + (settledSeq === null ? 0 : SETTLED);
      this.#rows.append(Number(createdSeq), copyRow(first, ESCROW_COLUMNS, escrowValues(row)));
      this.#addLeaves(leavesOfIndexed(row));
      if ((at + 1) % atOnce === 0) yield;
    }
    for (const [at, row] of unseen.entries()) {
      const first = row.settledSeq === null ? 0 : SETTLED;
      this.#rows.append(Number(row.createdSeq), copyRow(first, UNSEEN_COLUMNS, unseenValues(row)));
      this.#addLeaves(leavesOfUnseen(row));
      if ((at + 1) % atOnce === 0) yield;
    }
  }

  #addLeaves(leaves: ReadonlyArray<NumberedLeaf>): void {
    for (const { seq, leaf } of leaves) this.#leaves.append(Number(seq), leaf);
  }

  /** Shows the leaves of all rows, ascending. A leaf that several rows have comes several times. It yields between portions, so that others may run. */
  *showLeaves(sink: LeafSink, atOnce: number): Generator<void, void> {
    let shown = 0;
    for (const { seq, bytes } of this.#leaves.ascending()) {
      sink(BigInt(seq), new Uint8Array(bytes));
      shown += 1;
      if (shown % atOnce === 0) yield;
    }
  }

  /** Rows for a COPY, ascending and each number once, in chunks of one table. The next chunk begins where one is copied. */
  *chunks(): Generator<CopyChunk> {
    const [unseen, escrows] = [
      new CopyChunk("unseen_escrow", UNSEEN_COLUMNS),
      new CopyChunk("escrow", ESCROW_COLUMNS),
    ];
    for (const row of this.#latest()) {
      const chunk = ((row[0] ?? 0) & SEEN) === 0 ? unseen : escrows;
      chunk.append(row);
      if (chunk.isFull) yield chunk;
    }
    for (const chunk of [unseen, escrows]) if (chunk.rows > 0) yield chunk;
  }

  /** Of the rows with one number the one with the greatest first byte, and of equal ones the last. */
  *#latest(): Generator<Uint8Array> {
    let number = -1;
    let best: Uint8Array = new Uint8Array();
    for (const { seq, bytes } of this.#rows.ascending()) {
      if (seq !== number && number !== -1) yield best;
      if (seq === number && (bytes[0] ?? 0) < (best[0] ?? 0)) continue;
      number = seq;
      best = bytes;
    }
    if (number !== -1) yield best;
  }
}
