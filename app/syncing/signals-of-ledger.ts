import { Effect, Layer } from "effect";
import { ledgerSignalsWebSocket } from "../../adapters/solana-rpc/signals/ledger-signals-web-socket.ts";
import type { LedgerSignals } from "../../ports/ledger/ledger-signals.ts";
import { programsOf, type StartedInstance } from "../lifecycle/started-instance.ts";

/** The source of the ledger's signals: the Yellowstone server that is configured, else the node's WebSocket. */
export const signalsOfLedger = ({
  settings,
  webSocketUrl,
}: Pick<StartedInstance, "settings" | "webSocketUrl">): Layer.Layer<LedgerSignals> => {
  const programs = programsOf(settings);
  const yellowstone = settings.ledger.kind === "remote" ? settings.ledger.yellowstone : null;
  if (yellowstone === null)
    return ledgerSignalsWebSocket({ url: webSocketUrl, addresses: programs });
  // The gRPC client takes 30 MB and most of a second to load, which only those who use it pay.
  return Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("../../adapters/yellowstone/ledger-signals-yellowstone.ts")),
      ({ ledgerSignalsYellowstone }) => ledgerSignalsYellowstone({ ...yellowstone, programs }),
    ),
  );
};
