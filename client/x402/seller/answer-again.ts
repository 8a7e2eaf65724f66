import type { HTTPAdapter } from "@x402/core/server";
import type { PaymentPayload, SchemeNetworkServer } from "@x402/core/types";
import { decodeBase64, encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { replayOf } from "./replay.ts";
import type { SellerContext } from "./seller-context.ts";

/** The sellers behind their schemes. */
export const sellersOf = new WeakMap<SchemeNetworkServer, SellerContext>();

/** What is used of x402's resource server. */
type Schemes = {
  readonly getRegisteredScheme: (
    network: `${string}:${string}`,
    scheme: string,
  ) => SchemeNetworkServer | undefined;
};

const payloadIn = (header: string): PaymentPayload =>
  JSON.parse(new TextDecoder().decode(decodeBase64(header))) as PaymentPayload;

/** A `cache-control` that has who has paid for an answer not share it with a cache's other clients. */
export const privately = (cacheControl: string | null): string =>
  cacheControl === null ? "private" : `${cacheControl}, private`;

/**
 * The answer to a request whose payment was answered before, as the handler gave it; null for every other request. Frameworks ask before x402's middleware, which gives
 * only JSON and HTML again by itself. Never rejects.
 */
export const answerAgain = async (
  resources: Schemes,
  adapter: Pick<HTTPAdapter, "getHeader" | "getMethod" | "getUrl">,
): Promise<Response | null> => {
  try {
    const paymentPayload = payloadIn(adapter.getHeader("payment-signature") ?? "");
    const { network, scheme } = paymentPayload.accepted;
    const seller = sellersOf.get(resources.getRegisteredScheme(network, scheme) ?? ({} as never));
    if (seller === undefined) return null;
    const transportContext = { request: { adapter } };
    const replay = await replayOf(seller, { paymentPayload, transportContext });
    if (replay === null || !replay.settled.success) return null;
    const { status, headers, body } = replay.answer;
    const given = new Headers(headers);
    given.set("cache-control", privately(given.get("cache-control")));
    const settled = new TextEncoder().encode(JSON.stringify(replay.settled));
    given.set("payment-response", encodeBase64(settled));
    return new Response(body.length === 0 ? null : new Uint8Array(body), {
      status,
      headers: given,
    });
  } catch {
    // x402's middleware says what is wrong with the payment.
    return null;
  }
};
