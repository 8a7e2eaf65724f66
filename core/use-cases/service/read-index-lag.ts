import { Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { lagBehind, orNull } from "./index-status.ts";
import { LedgerPulse } from "./ledger-pulse.ts";

/** The index's mark, its lag in slots, and when its last snapshot was complete; null means not known. Never fails, and answers within a second. */
export const readIndexLag = Effect.gen(function* () {
  const index = yield* IndexReader;
  const pulse = yield* LedgerPulse;
  const [store, tip] = yield* Effect.all([orNull(index.summary), orNull(pulse.tip("finalized"))], {
    concurrency: "unbounded",
  });
  return {
    mark: store?.mark ?? null,
    snapshotAtMs: store?.snapshotAtMs ?? null,
    lagSlots: lagBehind(store?.mark, tip?.slot),
  };
}).pipe(Effect.withSpan("readIndexLag"));
