import { aForeignText, aList, anAddress, anObject, aNumber, at, aWord, maybe } from "../output.ts";
import { answerOf, tool } from "../tool.ts";

/** More mints than a service lists. */
const MOST_MINTS = 100;

/** `service_status`: whether the service works, on which ledger, and which mints it lists. */
export const serviceStatus = tool({
  name: "service_status",
  description: "Whether the service works now, its ledger, and the mints to pay in.",
  parameters: {},
  output: {
    status: at("data.status", aWord("online or degraded")),
    relay: at("data.relay.status", aWord()),
    cluster: at("data.network.cluster", aWord()),
    genesis_hash: at("data.network.genesis_hash", maybe(anAddress())),
    mints: at(
      "data.supported_mints",
      aList(
        anObject({
          mint: at("address", anAddress()),
          symbol: aForeignText(16),
          decimals: aNumber(),
        }),
        MOST_MINTS,
      ),
    ),
  },
  run: async (_, { call }) => ({ answer: await answerOf(call, "/v1/status") }),
});
