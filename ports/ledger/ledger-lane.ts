import { Context } from "effect";

/** Who waits for a request to the ledger: a caller (`live`), or nobody (`background`). */
export type Lane = "live" | "background";

/**
 * The lane of the running fiber's requests to the ledger, `live` by default. Where a node limits requests, background
 * work leaves a share of them to callers, and waits longer.
 */
export const LedgerLane = Context.Reference<Lane>("settlement-evidence/ports/LedgerLane", {
  defaultValue: () => "live",
});
