import { StoreUnavailable } from "../../../ports/index/store-unavailable.ts";
import { type Queries, rowsOf } from "../queries.ts";

/**
 * Holds the lease's term until the transaction ends: the lock on its row keeps a new term waiting. Fails as retryable when
 * another term has begun.
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
