import { Context, type Effect } from "effect";

/** The slot from before which the ledger is not read. */
export class LedgerFloor extends Context.Service<
  LedgerFloor,
  {
    /** Records a finalized slot whose state has been shown elsewhere, as the index shows it: no later read is of an earlier one. */
    readonly raise: (slot: bigint) => Effect.Effect<void>;
  }
>()("settlement-evidence/ports/LedgerFloor") {}
