/** What can keep the log from being published at the index's size; names are stable. */
export const LOG_HINDRANCES = [
  "nodes_disagree",
  "second_node_behind",
  "signed_size_not_derived_yet",
  "ended",
  "store_or_ledger_unavailable",
  "quorum_missing",
] as const;

/** What keeps the log from being published at the index's size. */
export type LogHindrance = (typeof LOG_HINDRANCES)[number];
