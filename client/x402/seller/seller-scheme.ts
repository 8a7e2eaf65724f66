import type { PaymentRequirements, SchemeNetworkServer } from "@x402/core/types";
import { messageSignerOf, type SellerKey } from "../../signing/sign-transaction.ts";
import {
  readRequirements,
  type PaymentRequirements as Requirements,
  X402_DEADLINES,
  X402_FLOW,
  X402_SCHEME,
  X402_TRANSFER_METHOD,
} from "../../../core/protocol/x402/payment-requirements.ts";
import {
  type AttestationJournal,
  memoryAttestations,
} from "../../merchant/settle/attestation-journal.ts";
import { policyIn } from "../../pinned-policy.ts";
import { type ClientClock, requestsTo, systemClock } from "../../service/requests.ts";
import type { Fetch } from "../../service/fetch-directly.ts";
import { SettlementError } from "../../settlement-error.ts";
import {
  type Delivered,
  type Delivery,
  exchangeIn,
  plainDelivery,
  priceIn,
  type SellerContext,
} from "./seller-context.ts";
import { placeOf } from "../network.ts";
import { memoryAnswers, memoryClaims, type PaymentClaims } from "./kept-answers.ts";
import { inOneLine, valueOf } from "../payment-error.ts";
import { facilitatorObjection } from "./facilitator-support.ts";
import { sellersOf } from "./replay.ts";
import { sellerHooks } from "./seller-hooks.ts";
import { settlementMembers } from "./seller-settlement.ts";

/** How a seller delivers and is paid. */
export type SellerOptions = {
  /** The trust document, obtained beforehand and kept: its text, or the object that JSON makes of it. */
  readonly trust: string | object;
  /** The merchant's attestor, which signs what was delivered. */
  readonly attestor: SellerKey;
  /** Pays the fees of releases and cancellations. */
  readonly payer: SellerKey;
  /**
   * The merchant's wallet, `payTo`: it cancels at once what a handler fails to deliver. Without it the buyer gets the
   * money back at expiry.
   */
  readonly wallet?: SellerKey;
  /**
   * What is attested of an answer; null attests nothing. By default the request, SHA-256 and length of the answer, and
   * an id: no two deliveries may have one payload.
   */
  readonly deliver?: (delivery: Delivery) => Delivered | null | Promise<Delivered | null>;
  /** Where claims are kept before they are signed; in memory when left out. */
  readonly journal?: AttestationJournal;
  /** Which payments are being delivered for, and what was answered to them; in memory when left out. */
  readonly claims?: PaymentClaims;
  /** The most that a transaction may pay for priority, lamports; 1,000,000 when left out. */
  readonly mostPriorityFee?: bigint;
  /** Used instead of the global `fetch`, for the service only. */
  readonly fetch?: Fetch;
  /** Used instead of the machine's clock. */
  readonly clock?: ClientClock;
};

/** A placeholder request, for requirements that are checked before a real one comes. */
const ANY_REQUEST = "GET http://seller/";

const contextOf = (url: string, options: SellerOptions): SellerContext => {
  const { wallet, clock = systemClock } = options;
  const { claims = memoryClaims(clock.nowMs) } = options;
  return {
    merchant: {
      requests: requestsTo(url, options.fetch, clock),
      policy: policyIn(options.trust),
      mostPriorityFee: options.mostPriorityFee,
    },
    attestor: messageSignerOf(options.attestor),
    payer: messageSignerOf(options.payer),
    wallet: wallet === undefined ? null : messageSignerOf(wallet),
    deliver: options.deliver ?? plainDelivery,
    journal: options.journal ?? memoryAttestations(),
    claims,
    answers: claims.answers ?? memoryAnswers(clock.nowMs),
    clock,
    releases: new WeakMap(),
    replays: new WeakMap(),
  };
};

/**
 * The requirements with what the scheme adds for any request. @throws SettlementError for an offer that nobody could
 * pay.
 */
const offered = (
  { merchant: { policy }, attestor, wallet, clock }: SellerContext,
  requirements: PaymentRequirements,
): PaymentRequirements => {
  const place = placeOf(policy);
  const deadline = Math.floor(clock.nowMs() / 1000) + requirements.maxTimeoutSeconds;
  const scheme = {
    custody: place.custodyProgram,
    captureAuthorizer: attestor.publicKey,
    assetTransferMethod: X402_TRANSFER_METHOD,
    minFeeBps: 0,
    maxFeeBps: 0,
    ...Object.fromEntries(X402_DEADLINES.map((name) => [name, deadline])),
  };
  const offer = { ...requirements, extra: { ...requirements.extra, ...scheme } };
  const judged = { ...offer, extra: { ...offer.extra, request: ANY_REQUEST } };
  const { merchant, mint } = valueOf(readRequirements(judged as Requirements, place));
  if (!policy.supportedMints.some(({ address }) => address === mint))
    throw new SettlementError(
      "unknown_mint",
      `The trust document does not list the mint ${mint}.`,
      "Ask for a mint that it lists.",
    );
  if (wallet !== null && wallet.publicKey !== merchant)
    throw new SettlementError(
      "another_merchant",
      `The wallet is ${wallet.publicKey}, payTo is ${merchant}.`,
      "Give the wallet that is paid, or none.",
    );
  return offer;
};

/**
 * The seller's side of single payments (`auth-capture`), for `register` of an `x402ResourceServer` whose facilitator is `<service>/x402`.
 * `url` is the seller's service. Opens no connection yet. @throws SettlementError for a wrong option.
 * @example
 * import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
 * import { networkOf, sellerScheme } from "settlement-evidence/x402";
 *
 * const facilitator = new HTTPFacilitatorClient({ url: `${service}/x402` });
 * const scheme = sellerScheme(service, { trust, attestor, payer: wallet, wallet });
 * new x402ResourceServer(facilitator).register(networkOf(trust), scheme);
 * scheme.scheme; // => "auth-capture"
 */
export const sellerScheme = (url: string, options: SellerOptions): SchemeNetworkServer => {
  const seller = contextOf(url, options);
  const { policy } = seller.merchant;
  const { network } = placeOf(policy);
  const scheme: SchemeNetworkServer = {
    scheme: X402_SCHEME,
    defaultAssetTransferMethod: X402_TRANSFER_METHOD,
    paymentFlows: { [X402_TRANSFER_METHOD]: { supported: [X402_FLOW], default: X402_FLOW } },
    dynamicExtraFields: [...X402_DEADLINES],
    schemeHooks: sellerHooks(seller),
    parsePrice: (price) => inOneLine(() => Promise.resolve().then(() => priceIn(policy, price))),
    getAssetDecimals: (asset) =>
      policy.supportedMints.find(({ address }) => address === asset)?.decimals,
    enhancePaymentRequirements: (requirements) =>
      inOneLine(() => Promise.resolve().then(() => offered(seller, requirements))),
    // Adds the request, so that the offer and what is paid differ from those of any other request.
    enrichPaymentRequiredResponse: ({ requirements, transportContext }) =>
      inOneLine(() => {
        const { request } = exchangeIn(transportContext);
        return Promise.resolve(
          requirements.map((each) =>
            each.scheme === X402_SCHEME && each.network === network
              ? { ...each, extra: { ...each.extra, request } }
              : each,
          ),
        );
      }),
    enrichSettlementPayload: (context) => settlementMembers(seller, context),
    settleOnCancel: ({ requirements }) => (seller.wallet === null ? undefined : requirements),
    validateFacilitatorSupport: (_, { extra }) => facilitatorObjection(policy, extra),
  };
  sellersOf.set(scheme, seller);
  return scheme;
};
