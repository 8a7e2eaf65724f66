import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { X402_VERSION, x402Network } from "../../../core/protocol/x402/payment-requirements.ts";
import { PRIVATE } from "./refusal.ts";
import { MIN_SESSION_SECONDS, type TakenSessions } from "./take-session.ts";

/** The x402 scheme of calls that are paid out of a session. */
export const SESSION_SCHEME = "delivery-session";

/** The HTTP header of an offer (x402 version 2, `PAYMENT-REQUIRED`). */
export const OFFER_HEADER = "payment-required";

/** How long an agent may wait for an answer, in seconds. */
const MOST_ANSWER_SECONDS = 60;

/** What a call costs at most, and whose session may pay for it. */
export type CallOffer = {
  readonly taken: TakenSessions;
  readonly policy: TrustPolicy;
  /** What is sold, as agents ask for it. */
  readonly url: string;
  /** Base units. */
  readonly price: bigint;
};

/** The answer to a request without a voucher: 402 with the offer of x402 version 2, in its header and its body. */
export const offerAnswer = ({ taken, policy, url, price }: CallOffer): Response => {
  const offer = JSON.stringify({
    x402Version: X402_VERSION,
    error: "The request carries no Settlement-Voucher.",
    resource: { url },
    accepts: [
      {
        scheme: SESSION_SCHEME,
        network: x402Network(policy.genesisHash),
        amount: price.toString(),
        asset: taken.mint,
        payTo: taken.merchant,
        maxTimeoutSeconds: MOST_ANSWER_SECONDS,
        extra: {
          custody: policy.custodyProgram,
          attestor: taken.attestor,
          minSessionSeconds: Number(MIN_SESSION_SECONDS),
        },
      },
    ],
  });
  return new Response(offer, {
    status: 402,
    headers: {
      "content-type": "application/json",
      "cache-control": PRIVATE,
      [OFFER_HEADER]: encodeBase64(new TextEncoder().encode(offer)),
    },
  });
};
