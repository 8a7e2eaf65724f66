import { type Static, Type } from "@sinclair/typebox";
import { Address, Count, oneOf, record, Slot } from "../openapi/values.ts";

const SyncCounts = record("SyncCounts", "What the sync did with the accounts of one kind.", {
  seen: Count("Accounts read."),
  created: Count("Rows added."),
  updated: Count("Rows changed."),
  unchanged: Count("Rows left as they were."),
  rejected: Count("Accounts that failed a check and were not stored."),
});

/** What one completed sync did. */
export const SyncReport = record("SyncReport", "What one completed sync did.", {
  sync_id: Type.String(),
  status: Type.Literal("completed"),
  mode: oneOf(["snapshot", "incremental"], "How the accounts were found."),
  slot: Slot("Up to here the index is now complete."),
  escrows: SyncCounts,
  merchants: SyncCounts,
  events: record("SyncEvents", "What the sync did with events.", { added: Count("Events added.") }),
  rejected: Type.Array(
    record("RejectedAccount", "An account that failed a check.", {
      address: Type.String(),
      reason: Type.String(),
    }),
    { description: "The first rejected accounts, at most 100.", maxItems: 100 },
  ),
  vanished: Type.Array(Address("The account."), {
    description: "Indexed accounts that the ledger shows no longer, at most 100. Their rows stay.",
    maxItems: 100,
  }),
  duration_ms: Count("How long it took."),
});
export type SyncReportRecord = Static<typeof SyncReport>;
