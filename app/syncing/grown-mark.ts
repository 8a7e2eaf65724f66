import type { SyncMark } from "../../core/domain/index/sync-mark.ts";

/** How far the index is complete, and the term of the lease under which that was written. */
export type GrownMark = { readonly mark: SyncMark; readonly epoch: bigint };
