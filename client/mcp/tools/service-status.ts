import type { ServiceStatus } from "../../generated/contract.ts";
import { aList, anObject, aNumber, aText, maybeText } from "../output.ts";
import { dataOf, tool } from "../tool.ts";

/** `service_status`: whether the service works, on which ledger, and which mints it lists. */
export const serviceStatus = tool({
  name: "service_status",
  description: "Whether the service works now, its ledger, and the mints to pay in.",
  parameters: {},
  output: {
    status: aText("online or degraded"),
    relay: aText(),
    cluster: aText(),
    genesis_hash: maybeText(),
    mints: aList(anObject({ mint: aText(), symbol: aText(), decimals: aNumber() })),
  },
  run: async (_, { call, trust, rebuilds }) => {
    const { status, relay, network, supported_mints } = await dataOf<ServiceStatus>(
      call,
      "/v1/status",
    );
    return {
      result: {
        status,
        relay: relay.status,
        cluster: network.cluster,
        genesis_hash: network.genesis_hash,
        // Beside a wallet that pinned nothing, symbol and decimals would be a service's word for what an amount is.
        mints:
          trust === null && rebuilds
            ? supported_mints.map(({ address }) => ({ mint: address }))
            : (trust?.supportedMints ?? supported_mints).map(({ address, symbol, decimals }) => ({
                mint: address,
                symbol,
                decimals,
              })),
      },
    };
  },
});
