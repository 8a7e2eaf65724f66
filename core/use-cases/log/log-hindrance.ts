/** What keeps the log from being published at the index's size. */
export type LogHindrance =
  | "nodes_disagree"
  | "second_node_behind"
  | "signed_size_not_derived_yet"
  | "ended"
  | "store_or_ledger_unavailable"
  | "quorum_missing";
