import { Effect, Layer, Stream } from "effect";
import { AccountNews } from "../../ports/ledger/account-news.ts";
import { ConfirmedHistory, ConfirmedSignals } from "../../ports/ledger/confirmed-ledger.ts";
import type { SignalSource } from "../../ports/ledger/ledger-signals.ts";

/** A source that tells of nothing, and that no node has taken a subscription of. */
export const NO_SIGNALS: SignalSource = {
  changes: Stream.never,
  standing: Effect.succeed({ isLive: false, isSilent: false, failures: 0 }),
};

/** A node that tells nothing of an account. */
export const noNews = Layer.succeed(AccountNews, { of: () => Stream.never });

/** No node tells or shows anything of what is confirmed. */
export const nothingConfirmed = Layer.mergeAll(
  Layer.succeed(ConfirmedSignals, NO_SIGNALS),
  Layer.succeed(ConfirmedHistory, {
    recent: () => Effect.succeed([]),
    transaction: () => Effect.succeed(null),
  }),
);
