import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";
import {
  aForeignText,
  aList,
  anAddress,
  anObject,
  aNumber,
  at,
  aWord,
  heldTo,
  maybe,
} from "../output.ts";
import { answerOf, tool } from "../tool.ts";

/** More mints than a service lists. */
const MOST_MINTS = 100;
/** The longest symbol that is shown, characters. */
const MOST_SYMBOL = 16;

const STATUS = {
  status: at("data.status", aWord("online or degraded")),
  relay: at("data.relay.status", aWord()),
  cluster: at("data.network.cluster", aWord()),
  genesis_hash: at("data.network.genesis_hash", maybe(anAddress())),
  mints: at(
    "data.supported_mints",
    aList(
      anObject({
        mint: at("address", anAddress()),
        symbol: aForeignText(MOST_SYMBOL),
        decimals: aNumber(),
      }),
      MOST_MINTS,
    ),
  ),
};

/** `service_status`: whether the service works, on which ledger, and which mints it lists. */
export const serviceStatus = tool({
  name: "service_status",
  description: "Whether the service works now, its ledger, and the mints to pay in.",
  parameters: {},
  output: STATUS,
  run: async (_, { call, trust, rebuilds }) => {
    const result = heldTo(STATUS, await answerOf(call, "/v1/status"));
    if (trust !== null)
      return {
        result: {
          ...result,
          mints: trust.supportedMints.map(({ address, symbol, decimals }) => ({
            mint: address,
            symbol: foreignText(symbol, MOST_SYMBOL),
            decimals,
          })),
        },
      };
    // Beside a wallet that pinned nothing, symbol and decimals would be a service's word for what an amount is.
    return rebuilds
      ? { result: { ...result, mints: result.mints.map(({ mint }) => ({ mint })) } }
      : { result };
  },
});
