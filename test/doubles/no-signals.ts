import { Effect, Stream } from "effect";
import type { SignalSource } from "../../ports/ledger/ledger-signals.ts";

/** A source that tells of nothing, and that no node has taken a subscription of. */
export const NO_SIGNALS: SignalSource = {
  changes: Stream.never,
  standing: Effect.succeed({ isLive: false, failures: 0 }),
};
