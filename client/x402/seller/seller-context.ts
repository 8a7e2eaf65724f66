import type { SettleContext } from "@x402/core/server";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import {
  BUYER_MEMBERS,
  type PaymentPayload,
  readPayload,
} from "../../../core/protocol/x402/payment-payload.ts";
import {
  type PaymentRequirements,
  readRequirements,
  type RequiredTerms,
} from "../../../core/protocol/x402/payment-requirements.ts";
import type { AttestationJournal } from "../../merchant/settle/attestation-journal.ts";
import type { MerchantContext } from "../../merchant/merchant-context.ts";
import { deploymentIn } from "../../pay/payment-terms.ts";
import type { ClientClock } from "../../service/client-clock.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/message-signer.ts";
import type { Delivered, Delivery } from "./delivery.ts";
import { placeOf } from "../network.ts";
import type { KeptAnswers } from "./kept-answers.ts";
import type { PaymentClaims } from "./payment-claims.ts";
import type { Replay } from "./replay.ts";
import { valueOf } from "../payment-error.ts";

/** What the parts of a seller share. */
export type SellerContext = {
  readonly merchant: MerchantContext;
  readonly attestor: MessageSigner;
  readonly payer: MessageSigner;
  /** The merchant's wallet; null leaves what is not delivered to the refund at expiry. */
  readonly wallet: MessageSigner | null;
  readonly deliver: (delivery: Delivery) => Delivered | null | Promise<Delivered | null>;
  readonly journal: AttestationJournal;
  readonly claims: PaymentClaims;
  readonly answers: KeptAnswers;
  readonly clock: ClientClock;
  /** What was added to each payment that is being released, by x402's object of it. */
  readonly releases: WeakMap<object, Readonly<Record<string, unknown>>>;
  /** The payments whose answer is given again, by x402's object of them. */
  readonly replays: WeakMap<object, Replay>;
};

/** A payment at a seller: terms and payload. */
export type HeldPayment = { readonly terms: RequiredTerms; readonly payment: PaymentPayload };

/** The payment of a settlement, by what the buyer accepted. @throws SettlementError for one of another request, seller or price. */
export const paymentOf = (
  { merchant: { policy } }: SellerContext,
  { paymentPayload }: Pick<SettleContext, "paymentPayload">,
): HeldPayment => {
  const accepted = paymentPayload.accepted as PaymentRequirements;
  const terms = valueOf(readRequirements(accepted, placeOf(policy)));
  const payload = paymentPayload.payload as { readonly [name: string]: Json };
  return { terms, payment: valueOf(readPayload(payload, terms, deploymentIn(policy))) };
};

/** What x402's HTTP servers say of the exchange. */
type HttpExchange = {
  readonly request?: {
    readonly method?: string;
    readonly adapter?: { readonly getMethod: () => string; readonly getUrl: () => string };
  };
  readonly responseBody?: Uint8Array;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Told by `payFastify` alone. */
  readonly responseStatus?: number;
};

/**
 * Method and URL of the HTTP request behind a transport context, and the answer once there is one. HEAD is offered what GET is: `isHead` tells them apart. @throws SettlementError for another transport.
 */
export const exchangeIn = (transport: unknown) => {
  const { request, responseBody, responseHeaders, responseStatus } = (transport ??
    {}) as HttpExchange;
  const adapter = request?.adapter;
  if (adapter === undefined)
    throw new SettlementError(
      "unsupported_transport",
      "The scheme binds a payment to an HTTP request, and this is none.",
      "Sell over HTTP, through x402HTTPResourceServer.",
    );
  const url = adapter.getUrl().replace(/#.*$/s, "");
  const isHead = adapter.getMethod().toUpperCase() === "HEAD";
  const method = isHead ? "GET" : (request?.method ?? adapter.getMethod()).toUpperCase();
  return {
    isHead,
    method,
    url,
    request: `${method} ${url}`,
    body: responseBody ?? new Uint8Array(),
    headers: responseHeaders ?? {},
    status: responseStatus ?? 200,
  };
};

/** The payment of the very request that presents it. Whoever presents it knows its nonce: the escrow's address follows from that. @throws SettlementError */
export const presentedPayment = (
  seller: SellerContext,
  context: Pick<SettleContext, "paymentPayload" | "transportContext">,
): HeldPayment => {
  const { payload } = context.paymentPayload;
  if (Object.keys(payload).some((name) => !BUYER_MEMBERS.has(name)))
    throw new SettlementError(
      "invalid_payload",
      "The payload has a member that a buyer does not send.",
      "Make the payload by docs/x402-escrow-svm.md.",
    );
  const { isHead, request } = exchangeIn(context.transportContext);
  if (isHead)
    throw new SettlementError(
      "head_request",
      "The request is HEAD, which delivers nothing to pay for.",
      "Send GET.",
    );
  const held = paymentOf(seller, context);
  if (held.terms.request !== request)
    throw new SettlementError(
      "another_request",
      `The payment is for ${held.terms.request}, the request is ${request}.`,
      "Pay for this request.",
    );
  return held;
};

/** What claims and answers outlast an escrow by, so that clocks which differ free none too early. */
const SLACK_MS = 60_000;

/** When a payment's escrow has expired for certain, milliseconds since 1970. */
export const expiredMs = ({ clock }: SellerContext, { terms }: HeldPayment): number =>
  clock.nowMs() + terms.ttlSeconds * 1000 + SLACK_MS;
