import { Exit } from "effect";
import type { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import type { LedgerFailure } from "../../../../ports/ledger/ledger.ts";
import { ledgerFaultText } from "../../ledger-fault-text.ts";

/** How a sync fails. */
export type SyncFailure = LedgerFailure | StoreUnavailable;

/** What ended work on the index: the tag of a failure, or a defect. */
export type SyncError = SyncFailure["_tag"] | "InternalError";

/** What ended the work; null when it completed or was interrupted. */
export const syncErrorOf = (exit: Exit.Exit<unknown, SyncFailure>): SyncError | null => {
  const failure = Exit.findErrorOption(exit);
  if (failure._tag === "Some") return failure.value._tag;
  return Exit.hasDies(exit) ? "InternalError" : null;
};

/** A failure's cause as text for the log. The adapters keep addresses that hold keys out of it. */
export const syncFailureCause = (failure: SyncFailure): string => {
  if (failure._tag !== "StoreUnavailable" && failure.fault !== undefined)
    return ledgerFaultText(failure.fault);
  if (failure._tag === "LedgerTimeout") return `no answer within ${failure.timeoutMs} ms`;
  const { cause } = failure;
  if (cause instanceof Error) return cause.message;
  return typeof cause === "string" ? cause : "not known";
};
