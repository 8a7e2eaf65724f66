import type { Hash32 } from "../hash32.ts";
import type { UnixSeconds } from "../unix-time.ts";

/** A slot, and the service's own clock when it was read, unix milliseconds. */
export type TimedSlot = { readonly slot: bigint; readonly atMs: number };

/**
 * How far an index is complete: it holds exactly the state of the ledger after the event numbered `count`, and the
 * leaves of its events chain to `head`. See docs/log.md.
 */
export type SyncMark = {
  /** The number of the last event held. u64, 0 before the first event. */
  readonly count: bigint;
  /** The chain over the leaves 1 to `count`, as the custody program keeps it. 32 zero bytes before the first event. */
  readonly head: Hash32;
  /** The finalized slot at which `count` and `head` were read. */
  readonly slot: bigint;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
  /** The service's own clock when the sync ended, whole milliseconds. */
  readonly atMs: number;
  /**
   * The last mark whose slot the ledger can have reached without slack: later slots are judged from it. Absent in an older
   * store, where this mark counts.
   */
  readonly paceFrom?: TimedSlot;
};
