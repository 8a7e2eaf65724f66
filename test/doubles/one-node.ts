import { Effect } from "effect";
import type { LedgerNodes } from "../../ports/ledger/ledger.ts";

/** The only node of a ledger: nobody reads it beside itself. */
export const ONE_NODE: LedgerNodes["Service"] = {
  count: 1,
  readFromEach: () => Effect.die("there is one node"),
};
