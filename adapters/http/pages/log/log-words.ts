import type { PublisherState } from "../../../../core/use-cases/log/log-publisher.ts";
import type { LogHindrance } from "../../../../core/use-cases/log/log-standing.ts";

/** What keeps the log from being published at the index's size, in sentences. */
export const HINDRANCE_SENTENCES: Readonly<Record<LogHindrance, string>> = {
  nodes_disagree:
    "A node shows another root than the index has, so nothing is signed until the nodes agree.",
  second_node_behind:
    "No second node has come as far as the index yet, and one node alone is not believed.",
  signed_size_not_derived_yet:
    "The index has not come to the size that was signed before, so nothing larger is signed yet.",
  ended: "The log has ended: nothing more will be signed in it.",
  store_or_ledger_unavailable: "The store or the ledger's nodes do not answer.",
  quorum_missing:
    "A newer root is signed, but not enough witnesses have cosigned it yet for it to be published.",
  witnesses_ahead:
    "The witnesses have cosigned a larger log than this service holds. It goes on when its index has come that far.",
  witness_missing:
    "Enough witnesses cosign, but one of them has not done so for more than ten seconds.",
  log_key_missing: "This process lacks a key that the log is signed with.",
  log_key_unavailable:
    "Whoever holds the log's key gives no signature now, or the files beside it cannot be written: the service's log says which. It is tried again; nothing else waits for it.",
  ending: "The operator ends the log. The witnesses still have to cosign what was signed last.",
};

/** What the process that answers does for the log, in sentences. */
export const PUBLISHER_SENTENCES: Readonly<Record<PublisherState, string>> = {
  no_key: "Another process publishes the log; this one reads it from the store.",
  starting: "This process will publish the log after its first sync with the ledger.",
  publishing: "This process publishes the log.",
  standby: "Another replica publishes the log now; this one takes over when that one stops.",
  ended: "The log has ended. What it holds stays readable.",
};
