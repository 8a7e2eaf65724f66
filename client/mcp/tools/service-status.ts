import { foreignText } from "../../../core/domain/encoding/foreign-text.ts";
import type { SupportedMint } from "../../generated/contract.ts";
import { ask } from "../ask.ts";
import {
  aForeignText,
  at,
  atOrNull,
  heldTo,
  rowsAt,
  type ShownBy,
  type ShownOf,
} from "../output.ts";
import { tool } from "../tool.ts";

/** More mints than a service lists. */
const MOST_MINTS = 100;
/** The longest symbol that is shown, characters. */
const MOST_SYMBOL = 16;

const MINT = {
  mint: "address",
  symbol: aForeignText(MOST_SYMBOL),
  decimals: "decimals",
} as const satisfies ShownOf<SupportedMint>;

const STATUS = {
  status: at("data.status", "online or degraded"),
  relay: "data.relay.status",
  cluster: "data.network.cluster",
  genesis_hash: atOrNull("data.network.genesis_hash"),
  mints: rowsAt("data.supported_mints", MINT, MOST_MINTS),
} as const satisfies ShownBy<"GET /v1/status">;

/** `service_status`: whether the service works, on which ledger, and which mints it lists. */
export const serviceStatus = tool({
  name: "service_status",
  description: "Whether the service works now, its ledger, and the mints to pay in.",
  parameters: {},
  output: STATUS,
  run: async (_, { call, trust, rebuilds }) => {
    const result = heldTo(STATUS, await ask(call, "GET /v1/status", {}));
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
