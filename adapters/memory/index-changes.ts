import { Effect } from "effect";
import { leavesOfIndexed, leavesOfUnseen } from "../../core/log/leaf/indexed-leaves.ts";
import type { NumberedLeaf } from "../../core/log/leaf/escrow-leaves.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import type { IndexBuild, IndexWriter } from "../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { IndexRows } from "./index-rows.ts";

/** The leaves of all rows, ascending. A number that several rows have comes as often. */
export const leavesOfRows = ({ escrows, unseen }: IndexRows): ReadonlyArray<NumberedLeaf> =>
  [
    ...Array.from(escrows.values()).flatMap(leavesOfIndexed),
    ...Array.from(unseen.values()).flatMap(leavesOfUnseen),
  ].sort((a, b) => (a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0));

const NO_ROWS = { escrows: [], unseen: [], merchants: [] };

/** What stays of the rows of one number: a settled one, as its leaf is in the log, then one with all its fields. */
const rankOf = (row: UnseenEscrow | IndexedEscrow): number =>
  (row.settledSeq === null ? 0 : 2) + ("account" in row ? 1 : 0);

/**
 * Rows that are gathered apart, all that were added: nothing decides between two rows of one number before `finish`.
 */
const buildOf = (rows: IndexRows): IndexBuild => {
  const added = new IndexRows();
  const leaves: Array<NumberedLeaf> = [];
  const isOutranked = (row: UnseenEscrow): boolean => {
    const existing = added.escrows.get(row.createdSeq) ?? added.unseen.get(row.createdSeq);
    return existing !== undefined && rankOf(row) < rankOf(existing);
  };
  return {
    add: (batch) =>
      Effect.sync(() => {
        leaves.push(
          ...batch.escrows.flatMap(leavesOfIndexed),
          ...batch.unseen.flatMap(leavesOfUnseen),
        );
        for (const row of batch.unseen)
          if (!isOutranked(row)) added.put({ ...NO_ROWS, unseen: [row] });
        for (const row of batch.escrows)
          if (!isOutranked(row)) added.put({ ...NO_ROWS, escrows: [row] });
        added.put({ ...NO_ROWS, merchants: batch.merchants });
      }),
    leaves: (sink) =>
      Effect.sync(() => {
        leaves.sort((a, b) => (a.seq < b.seq ? -1 : a.seq > b.seq ? 1 : 0));
        for (const { seq, leaf } of leaves) sink(seq, leaf);
      }),
    finish: (mark) =>
      Effect.sync(() => {
        rows.clear();
        rows.put({
          escrows: [...added.escrows.values()],
          unseen: [...added.unseen.values()],
          merchants: [...added.merchants.values()],
        });
        rows.mark = mark;
        rows.snapshotAtMs = mark.atMs;
        rows.revision += 1n;
      }),
  };
};

/** The writes of an index in memory. */
export const indexWriterOf = (rows: IndexRows): IndexWriter["Service"] => ({
  apply: (changes) =>
    Effect.suspend(() => {
      if ((rows.mark?.count ?? null) !== changes.from)
        return new StoreUnavailable({
          retryable: true,
          cause: `the index stands at ${rows.mark?.count}, not at ${changes.from}`,
        });
      rows.put(changes);
      for (const reference of changes.transactions)
        if (!rows.transactions.has(reference.position))
          rows.transactions.set(reference.position, reference);
      rows.mark = changes.mark ?? rows.mark;
      rows.snapshotAtMs = changes.snapshotAtMs ?? rows.snapshotAtMs;
      rows.revision += 1n;
      return Effect.void;
    }),
  merchantsAt: (addresses) =>
    Effect.sync(() =>
      addresses.flatMap((address) => {
        const observed = rows.merchants.get(address);
        return observed === undefined ? [] : [observed];
      }),
    ),
  unseen: (limit, after) =>
    Effect.sync(() =>
      Array.from(rows.unseen.values())
        .filter(({ createdSeq }) => createdSeq > after)
        .sort((a, b) => (a.createdSeq < b.createdSeq ? -1 : 1))
        .slice(0, limit),
    ),
  build: Effect.sync(() => buildOf(rows)),
});
