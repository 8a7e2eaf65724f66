import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import type { IndexChanges } from "../../../ports/index/index-writer.ts";
import type { Queries } from "../queries.ts";
import { emptyIndex } from "./build/empty-index.ts";
import { addCounts, lockLedger, putMark, putSnapshotTime } from "./ledger-row.ts";
import { putMerchants } from "./merchant-table.ts";
import { putEscrows, putTransactions, putUnseen } from "./put-escrows.ts";

/** Applies changes in a transaction that holds the sync lease. First removes the rows of an unfinished build. */
export const applyChanges = async (sql: Queries, changes: IndexChanges): Promise<void> => {
  const { count, building } = await lockLedger(sql);
  if (count !== changes.from)
    throw new StoreUnavailable({
      retryable: true,
      cause: `the index stands at ${count}, not at ${changes.from}: another process has written`,
    });
  if (building !== null) await emptyIndex(sql);
  // First the transactions: inserted rows refer to them.
  await putTransactions(sql, changes.transactions);
  const hidden = await putUnseen(sql, changes.unseen);
  const seen = await putEscrows(sql, changes.escrows);
  await addCounts(sql, {
    escrows: seen.added - hidden.removed,
    unseen: hidden.added - seen.removed,
    merchants: await putMerchants(sql, changes.merchants),
  });
  if (changes.mark !== null) await putMark(sql, changes.mark);
  if (changes.snapshotAtMs !== undefined) await putSnapshotTime(sql, changes.snapshotAtMs);
};
