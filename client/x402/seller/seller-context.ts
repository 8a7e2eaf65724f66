import type { SettleContext } from "@x402/core/server";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { type PaymentPayload, readPayload } from "../../../core/protocol/x402/payment-payload.ts";
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
import type { PaymentClaims } from "./payment-claims.ts";
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
  readonly clock: ClientClock;
  /** What was added to each payment that is being released, by x402's object of it. */
  readonly releases: WeakMap<object, Readonly<Record<string, unknown>>>;
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
};

/**
 * Method and URL of the HTTP request behind a transport context, and the answer once there is one. HEAD is offered what GET is: `isHead` tells them apart. @throws SettlementError for another transport.
 */
export const exchangeIn = (transport: unknown) => {
  const { request, responseBody, responseHeaders } = (transport ?? {}) as HttpExchange;
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
  };
};
