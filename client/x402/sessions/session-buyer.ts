import type { PaymentPayloadResult, SchemeNetworkClient } from "@x402/core/types";
import { isUsdc } from "../../../core/domain/supported-mint.ts";
import { SESSION_SCHEME, X402_VERSION } from "../../../core/protocol/x402/payment-requirements.ts";
import { policyIn } from "../../pinned-policy.ts";
import { type Fetch, runtimeFetch } from "../../service/fetch-directly.ts";
import type { PayFetch } from "../../sessions/agent/pay-fetch.ts";
import { placeOf } from "../network.ts";
import { acceptedIn, sessionCarrier } from "./session-carrier.ts";

/** A buyer's side of calls out of sessions. */
export type SessionBuyer = {
  /** For `register` of an `x402Client`. */
  readonly scheme: SchemeNetworkClient;
  /** For `wrapFetchWithPayment`: it gives each payment its voucher, and takes the receipt. */
  readonly fetch: typeof globalThis.fetch;
  /** Closes every session that is open, and says what each cost. */
  readonly close: PayFetch["close"];
};

/**
 * The buyer's side of calls out of sessions (`delivery-session`). `paying` makes the `payFetch` that opens sessions by
 * its policy, with the `fetch` that is given to it. `trust` is the trust document. @throws SettlementError
 * @example
 * import { x402Client } from "@x402/core/client";
 * import { wrapFetchWithPayment } from "@x402/fetch";
 * import { memorySessionJournal, payFetch } from "settlement-evidence";
 * import { networkOf, sessionBuyer } from "settlement-evidence/x402";
 *
 * const most = { maxPrice: "0.05", budget: "5.00", lamportsPerUnit: 6.7 };
 * const policy = { service, trust, signer, journal: memorySessionJournal, ...most };
 * const buyer = sessionBuyer(trust, (fetch) => payFetch(policy, fetch));
 * const client = new x402Client().register(networkOf(trust), buyer.scheme);
 * const pay = wrapFetchWithPayment(buyer.fetch, client);
 * typeof pay; // => "function"
 * await buyer.close(); // => []
 */
export const sessionBuyer = (
  trust: string | object,
  paying: (fetch: Fetch) => PayFetch,
  fetchWith: Fetch = runtimeFetch,
): SessionBuyer => {
  const policy = policyIn(trust);
  const { network } = placeOf(policy);
  const carrier = sessionCarrier(network, fetchWith);
  const pay = paying(carrier);
  return {
    scheme: {
      scheme: SESSION_SCHEME,
      findDefaultAsset: (asset, on) => {
        const mint = policy.supportedMints.find(({ address }) => address === asset);
        return mint === undefined || !isUsdc(mint) || on !== network
          ? undefined
          : { asset, decimals: mint.decimals, symbol: mint.symbol };
      },
      // A voucher orders one very request, which x402 does not show here: `fetch` puts it in.
      createPaymentPayload: (): Promise<PaymentPayloadResult> =>
        Promise.resolve({ x402Version: X402_VERSION, payload: {} }),
    },
    fetch: (async (...given: Parameters<typeof globalThis.fetch>) => {
      const request = new Request(...given);
      if (acceptedIn(request.headers) !== null) return pay(request);
      const { url, method, headers, redirect, signal } = request;
      const body = new Uint8Array(await request.arrayBuffer());
      return fetchWith(url, {
        method,
        headers,
        redirect,
        signal,
        ...(body.length === 0 ? {} : { body }),
      });
    }) as typeof globalThis.fetch,
    close: pay.close,
  };
};
