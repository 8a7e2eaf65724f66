import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { type Queries, rowsOf } from "../queries.ts";

/** Whether no later term than this one has begun. */
export const isTerm = async (sql: Queries, epoch: bigint): Promise<boolean> => {
  const [lease] = await rowsOf<{ epoch: bigint }>(sql, "SELECT epoch FROM sync_lease");
  return lease?.epoch === epoch;
};

/**
 * Holds the lease's term until the transaction ends: the lock on its row keeps a new term waiting. Fails as retryable
 * when another term has begun.
 */
export const holdTerm = async (sql: Queries, epoch: bigint): Promise<void> => {
  const [lease] = await rowsOf<{ epoch: bigint }>(
    sql,
    "SELECT epoch FROM sync_lease FOR KEY SHARE",
  );
  if (lease?.epoch === epoch) return;
  throw new StoreUnavailable({
    retryable: true,
    cause: `a write of term ${epoch} came in term ${lease?.epoch}: another replica syncs by now`,
  });
};
