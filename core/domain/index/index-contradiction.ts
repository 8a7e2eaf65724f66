import type { Hash32 } from "../hash32.ts";
import type { SyncMark } from "./sync-mark.ts";

/** A state of the custody program's history: its count of events and the chain over their leaves. */
export type HistoryHead = Pick<SyncMark, "count" | "head">;

/** What stands between an index and a ledger that shows another history. Nothing replaces the index by itself. */
export type IndexContradiction = {
  /** `earlier_state`: the ledger's history is the beginning of the index's, or empty. */
  readonly kind: "another_history" | "earlier_state";
  readonly index: HistoryHead;
  /** What the nodes show. Scans have proved it, unless it is an earlier state. */
  readonly ledger: HistoryHead;
  /** The numbers among which the first differing event is, both included; null for an earlier state. */
  readonly firstDifference: { readonly from: bigint; readonly to: bigint } | null;
};

/** The operator's word that one history may replace an index at one head. */
export type RebuildApproval = {
  /** The head of the index that may be replaced. */
  readonly replaces: Hash32;
  /** A state that the history must pass through or stand at. */
  readonly by: HistoryHead;
};
