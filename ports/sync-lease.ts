import { Context } from "effect";

/**
 * Under which term of the lease the running fiber writes to the index: an index that replicas share
 * checks it inside each batch's transaction, and refuses the batch once a later term has begun. 0 is
 * for an index that no replica ever took a lease on.
 */
export const SyncEpoch = Context.Reference<bigint>("settlement-evidence/ports/SyncEpoch", {
  defaultValue: () => 0n,
});
