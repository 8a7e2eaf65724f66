import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import {
  type PaymentRequirements,
  SESSION_SCHEME,
  X402_VERSION,
  x402Network,
} from "../../../core/protocol/x402/payment-requirements.ts";
import { PRIVATE } from "./refusal.ts";
import { MIN_SESSION_SECONDS, type TakenSessions } from "./take-session.ts";

/** The HTTP header of an offer (x402 version 2, `PAYMENT-REQUIRED`). */
export const OFFER_HEADER = "payment-required";

/** How long an agent may wait for an answer, in seconds. */
const MOST_ANSWER_SECONDS = 60;

/** Whose sessions pay for calls. */
type OfferedBy = { readonly taken: TakenSessions; readonly policy: TrustPolicy };

/** What a seller asks for one call of at most `price` base units, as x402 says it. */
export const callRequirements = (
  { taken, policy }: OfferedBy,
  price: bigint,
): PaymentRequirements & { readonly extra: object } => ({
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
});

/** What a call costs at most, and whose session may pay for it. */
export type CallOffer = OfferedBy & {
  /** What is sold, as agents ask for it. */
  readonly url: string;
  /** Base units. */
  readonly price: bigint;
};

/** The answer to a request without a voucher: 402 with the offer of x402 version 2, in its header and its body. */
export const offerAnswer = ({ url, price, ...by }: CallOffer): Response => {
  const offer = JSON.stringify({
    x402Version: X402_VERSION,
    error: "The request carries no Settlement-Voucher.",
    resource: { url },
    accepts: [callRequirements(by, price)],
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
