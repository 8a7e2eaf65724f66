import { Effect, Layer } from "effect";
import { webSocketSignals } from "../../adapters/solana-rpc/signals/ledger-signals-web-socket.ts";
import type { Address } from "../../core/domain/address.ts";
import { ConfirmedSignals } from "../../ports/ledger/confirmed-ledger.ts";
import type { Commitment } from "../../ports/ledger/ledger.ts";
import { LedgerSignals, type SignalSource } from "../../ports/ledger/ledger-signals.ts";
import { deploymentOf, programsOf, type StartedInstance } from "./started-instance.ts";

/**
 * Where the ledger's signals come from: the Yellowstone server that is configured, else the node's WebSocket. They tell
 * of transactions that name one of `addresses`.
 */
const signalSource = (
  { settings, webSocketUrl }: Pick<StartedInstance, "settings" | "webSocketUrl">,
  addresses: ReadonlyArray<Address>,
  commitment: Commitment,
): Effect.Effect<SignalSource> => {
  const yellowstone = settings.ledger.kind === "remote" ? settings.ledger.yellowstone : null;
  if (yellowstone === null)
    return Effect.sync(() => webSocketSignals({ url: webSocketUrl, addresses, commitment }));
  // The gRPC client takes 30 MB and most of a second to load, which only those who use it pay.
  return Effect.map(
    Effect.promise(() => import("../../adapters/yellowstone/ledger-signals-yellowstone.ts")),
    ({ yellowstoneSignals }) =>
      yellowstoneSignals({ ...yellowstone, programs: addresses, commitment }),
  );
};

/** The ledger's signals of finalized changes. */
export const signalsOfLedger = (
  started: Pick<StartedInstance, "settings" | "webSocketUrl">,
): Layer.Layer<LedgerSignals> =>
  Layer.effect(LedgerSignals, signalSource(started, programsOf(started.settings), "finalized"));

/** The ledger's signals of confirmed events. */
export const signalsOfConfirmed = (
  started: Pick<StartedInstance, "settings" | "webSocketUrl">,
): Layer.Layer<ConfirmedSignals> =>
  Layer.effect(
    ConfirmedSignals,
    // Every event is an instruction of the custody program.
    signalSource(started, [deploymentOf(started.settings).custodyProgram], "confirmed"),
  );
