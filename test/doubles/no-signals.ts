import { Effect, Layer, Stream } from "effect";
import { ConfirmedHistory, ConfirmedSignals } from "../../ports/ledger/confirmed-ledger.ts";
import type { SignalSource } from "../../ports/ledger/ledger-signals.ts";

/** A source that tells of nothing, and that no node has taken a subscription of. */
export const NO_SIGNALS: SignalSource = {
  changes: Stream.never,
  standing: Effect.succeed({ isLive: false, failures: 0 }),
};

/** No node tells or shows anything of what is confirmed. */
export const nothingConfirmed = Layer.mergeAll(
  Layer.succeed(ConfirmedSignals, NO_SIGNALS),
  Layer.succeed(ConfirmedHistory, {
    recent: () => Effect.succeed([]),
    transaction: () => Effect.succeed(null),
  }),
);
