import { Exit } from "effect";
import type { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import type { LedgerFailure } from "../../../../ports/ledger/ledger.ts";
import { SlotBeyondReach } from "../../../../ports/index/slot-beyond-reach.ts";
import { ledgerFaultText } from "../../ledger-fault-text.ts";

/** How a sync fails. */
export type SyncFailure = LedgerFailure | SlotBeyondReach | StoreUnavailable;

/** What ended work on the index: the tag of a failure, or a defect. */
export type SyncError = SyncFailure["_tag"] | "InternalError";

/** A failure by its own name: a node's fault about a slot that no ledger can have reached is `SlotBeyondReach`. */
export const namedFailure = <E extends SyncFailure>(failure: E): E | SlotBeyondReach =>
  failure._tag === "LedgerUnavailable" && failure.fault?.kind === "slot_beyond_reach"
    ? new SlotBeyondReach({
        side: "ahead",
        method: failure.fault.method,
        detail:
          "the ledger cannot have come to the slot of the answer since the first slot that a node showed",
      })
    : failure;

/** What ended the work; null when it completed or was interrupted. */
export const syncErrorOf = (exit: Exit.Exit<unknown, SyncFailure>): SyncError | null => {
  const failure = Exit.findErrorOption(exit);
  if (failure._tag === "Some") return namedFailure(failure.value)._tag;
  return Exit.hasDies(exit) ? "InternalError" : null;
};

/** A failure's cause as text for the log. The adapters keep addresses that hold keys out of it. */
export const syncFailureCause = (failure: SyncFailure): string => {
  if (failure._tag === "SlotBeyondReach") return failure.message;
  if (failure._tag !== "StoreUnavailable" && failure.fault !== undefined)
    return ledgerFaultText(failure.fault);
  if (failure._tag === "LedgerTimeout") return `no answer within ${failure.timeoutMs} ms`;
  const { cause } = failure;
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : "not known";
};
