import { Effect } from "effect";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { lagBehind, orNull } from "./index-status.ts";
import { LedgerPulse } from "./ledger-pulse.ts";

/** The index's checkpoint and its lag in slots; null means not known. Never fails, and answers within a second. */
export const readIndexLag = Effect.gen(function* () {
  const index = yield* EscrowIndex;
  const pulse = yield* LedgerPulse;
  const [store, tip] = yield* Effect.all([orNull(index.summary), orNull(pulse.tip("finalized"))], {
    concurrency: "unbounded",
  });
  return {
    checkpoint: store?.checkpoint ?? null,
    lagSlots: lagBehind(store?.checkpoint, tip?.slot),
  };
}).pipe(Effect.withSpan("readIndexLag"));
