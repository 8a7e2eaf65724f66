import { bytesToHex } from "@noble/hashes/utils.js";
import type { HTTPAdapter, SettleContext } from "@x402/core/server";
import type { AssetAmount, Price } from "@x402/core/types";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { isUsdc, type SupportedMint } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime } from "../../../core/domain/unix-time.ts";
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
import type { MerchantContext } from "../../merchant/merchant-context.ts";
import type { AttestationJournal } from "../../merchant/settle/attestation-journal.ts";
import type { DeliveryPayload } from "../../pay/delivery.ts";
import { deploymentIn, unitsOf } from "../../pay/payment-terms.ts";
import type { ClientClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { MessageSigner } from "../../signing/sign-transaction.ts";
import { placeOf } from "../network.ts";
import { valueOf } from "../payment-error.ts";
import type { KeptAnswers, PaymentClaims } from "./kept-answers.ts";
import type { Replay } from "./replay.ts";

/** "$1.50", "1.50", "1.50 USDC", or a number. */
const MONEY = /^\$?([0-9.]+)(?: ([!-~]{1,16}))?$/;

const invalid = (detail: string): never => {
  throw new SettlementError(
    "invalid_price",
    detail,
    'Give a text such as "$1.50" or "1.50 USDC", or base units and a mint of the trust document.',
  );
};

const mintFor = ({ supportedMints }: TrustPolicy, symbol: string | undefined): SupportedMint =>
  supportedMints.find((mint) => (symbol === undefined ? isUsdc(mint) : mint.symbol === symbol)) ??
  invalid(`The trust document lists no mint ${symbol ?? "USDC"}.`);

/** A price in base units of a mint. Money without a symbol is USDC. @throws SettlementError */
export const priceIn = (policy: TrustPolicy, price: Price): AssetAmount => {
  if (typeof price === "object") return price;
  const [, amount, symbol] = MONEY.exec(String(price)) ?? [];
  if (amount === undefined) return invalid(`${price} is no price.`);
  const mint = mintFor(policy, symbol);
  return { asset: mint.address, amount: unitsOf(amount, mint.decimals).toString() };
};

/** What the handler answered, for the statement that is attested. */
export type Delivery = {
  readonly escrow: string;
  readonly taskHash: string;
  /** The genesis hash of the ledger. */
  readonly network: string;
  readonly method: string;
  readonly url: string;
  readonly body: Uint8Array;
  /** The response headers as the framework gives them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly deliveredAtMs: number;
};

/** What is attested: the payload, and the proof template that it fits, if any. */
export type Delivered = {
  readonly payload: DeliveryPayload;
  readonly template?: string | null;
};

/**
 * What is attested unless the seller says otherwise: the request, and SHA-256 and length of the answer. It claims no
 * status, since x402 does not tell it. Each delivery has an id of its own, so that no two have one proof: of two
 * processes that deliver for one payment, one is paid.
 */
export const plainDelivery = (delivery: Delivery): Delivered => ({
  payload: {
    task_hash: delivery.taskHash,
    delivery_id: crypto.randomUUID(),
    network: delivery.network,
    request_method: delivery.method,
    request_url: delivery.url,
    content_sha256: bytesToHex(sha256(delivery.body)),
    content_bytes: delivery.body.length,
    delivered_at: formatUnixTime(BigInt(Math.floor(delivery.deliveredAtMs / 1000))),
  },
});

/** A signed release, and how to sign it anew without what follows it; null where nothing does. Both in base64. */
export type SentRelease = {
  readonly release: string;
  readonly bareRelease: (() => Promise<string>) | null;
};

/** What the parts of a seller share. */
export type SellerContext = {
  readonly merchant: MerchantContext;
  readonly attestor: MessageSigner;
  readonly payer: MessageSigner;
  /** The merchant's wallet. With null, what is not delivered is refunded at expiry. */
  readonly wallet: MessageSigner | null;
  readonly deliver: (delivery: Delivery) => Delivered | null | Promise<Delivered | null>;
  readonly journal: AttestationJournal;
  readonly claims: PaymentClaims;
  readonly answers: KeptAnswers;
  readonly clock: ClientClock;
  /** The release of each payment that is being released, by x402's object of it. */
  readonly releases: WeakMap<object, SentRelease>;
  /** The payments whose answer is given again, by x402's object of them. */
  readonly replays: WeakMap<object, Replay>;
};

/** A payment at a seller: terms and payload. */
export type HeldPayment = { readonly terms: RequiredTerms; readonly payment: PaymentPayload };

/**
 * The payment of a settlement, by what the buyer accepted. @throws SettlementError for one of another request, seller
 * or price.
 */
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
  readonly request?: { readonly method?: string; readonly adapter?: HTTPAdapter };
  readonly responseBody?: Uint8Array;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  /** Told by `payFastify` alone. */
  readonly responseStatus?: number;
};

/**
 * Method and URL of the HTTP request behind a transport context, and the answer once there is one. HEAD is offered what
 * GET is: `isHead` tells them apart. @throws SettlementError for another transport.
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
    adapter,
    isHead,
    method,
    url,
    request: `${method} ${url}`,
    body: responseBody ?? new Uint8Array(),
    headers: responseHeaders ?? {},
    status: responseStatus ?? 200,
  };
};

/**
 * The payment of the very request that presents it. Whoever presents it knows its nonce: the escrow's address follows
 * from that. @throws SettlementError
 */
export const presentedPayment = (
  seller: SellerContext,
  context: Pick<SettleContext, "paymentPayload" | "transportContext">,
): HeldPayment => {
  const { payload } = context.paymentPayload;
  if (Object.keys(payload).some((name) => !BUYER_MEMBERS.has(name)))
    throw new SettlementError(
      "invalid_payload",
      "The payload has a member that a buyer does not send.",
      "Make the payload by docs/x402.md.",
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

/** How long claims and answers are kept beyond an escrow's expiry, because clocks differ. */
const SLACK_MS = 60_000;

/** A time by which a payment's escrow has certainly expired, milliseconds since 1970. */
export const expiredMs = ({ terms }: HeldPayment): number =>
  Number(terms.deadline) * 1000 + SLACK_MS;
