import { ledgerSignalsYellowstone } from "../../../adapters/yellowstone/ledger-signals-yellowstone.ts";
import { ledgerSignatureToBytes } from "../../../core/domain/ledger/signature.ts";
import { ledgerSignalsContract, WATCHED } from "../../contracts/ledger-signals.ts";
import { startGeyserServer } from "./geyser-server.ts";

ledgerSignalsContract("Yellowstone gRPC", async () => {
  const server = await startGeyserServer();
  const pings = () => server.requests.filter(({ ping }) => ping !== undefined).length;
  return {
    layer: ledgerSignalsYellowstone({ url: server.url, tokenFile: null, programs: WATCHED }),
    subscribed: (count) => server.until(() => server.subscriptions().length >= count),
    tell: ({ signature, slot, names }, failed) =>
      server.push({
        filters: [`transactions-${WATCHED.indexOf(names)}`],
        transaction_status: {
          slot: slot.toString(),
          signature: ledgerSignatureToBytes(signature),
          ...(failed ? { err: { err: new Uint8Array([8, 0, 0, 0]) } } : {}),
        },
      }),
    pushGarbage: server.pushGarbage,
    drop: server.drop,
    handled: () => {
      const before = pings();
      server.push({ filters: [], ping: {} });
      return server.until(() => pings() > before);
    },
    left: () => server.until(() => server.open() === 0),
    stop: server.stop,
  };
});
