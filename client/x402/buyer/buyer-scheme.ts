import type {
  PaymentPayloadResult,
  PaymentRequirements,
  SchemeNetworkClient,
} from "@x402/core/types";
import { formatUnits } from "../../../core/domain/amount.ts";
import type { TrustPolicy } from "../../../core/domain/evidence/evidence-check.ts";
import { MAX_TTL_SECONDS } from "../../../core/domain/escrow/escrow.ts";
import { isUsdc } from "../../../core/domain/supported-mint.ts";
import { formatUnixTime, parseUnixTime } from "../../../core/domain/unix-time.ts";
import {
  readRequirements,
  type PaymentRequirements as Requirements,
  X402_SCHEME,
  X402_VERSION,
} from "../../../core/protocol/x402/payment-requirements.ts";
import { originGuard } from "../../pay/allowed-origins.ts";
import { escrowNow, requireSame } from "../../pay/escrow-there.ts";
import { lockingTransaction } from "../../pay/locking-transaction.ts";
import { paymentTerms, type PaymentTerms } from "../../pay/payment-terms.ts";
import { spendGuard, type SpendLimits } from "../../pay/spend-limits.ts";
import { policyIn } from "../../pinned-policy.ts";
import type { Fetch } from "../../service/fetch-directly.ts";
import { type ClientClock, requestsTo, systemClock } from "../../service/requests.ts";
import { SettlementError } from "../../settlement-error.ts";
import type { AcceptedSigner } from "../../signing/sign-transaction.ts";
import { placeOf } from "../network.ts";
import { inOneLine, valueOf } from "../payment-error.ts";
import { type KeptPayment, keptPayments } from "./kept-payments.ts";

/** What a seller offers, as the buyer judges it before anything is signed. */
export type OfferedTerms = {
  /** Method and URL, with a space between, that the payment is bound to. */
  readonly request: string;
  readonly merchant: string;
  readonly mint: string;
  /** Decimal. */
  readonly amount: string;
  /** Seconds until the money can be had back. */
  readonly ttl: number;
  /** The time itself from which it can be had back, RFC 3339. */
  readonly expiresAt: string;
};

/** How a buyer pays. */
export type BuyerOptions = {
  /** The trust document, obtained beforehand and kept: its text, or the object that JSON makes of it. */
  readonly trust: string | object;
  /** The agent's wallet. */
  readonly signer: AcceptedSigner;
  /** Pays fee and rent; the agent when left out. */
  readonly payer?: AcceptedSigner;
  /** What may be spent, beside x402's own spend controls. Without it every payment is allowed. */
  readonly spend?: SpendLimits;
  /**
   * The origins that the program calls, such as `https://api.example.com`. Offers for a request to another origin are
   * refused. x402 does not tell the scheme which URL is called. So a site could pass on another seller's offer, let the
   * buyer pay, and get the delivery itself. Any origin when left out.
   */
  readonly origins?: ReadonlyArray<string>;
  /** Refuses an offer with a sentence; null allows it. */
  readonly judge?: (terms: OfferedTerms) => string | null;
  /**
   * The nonce of a payment, 16 to 128 bytes that nobody can guess. Store it before the first attempt: the same nonce is
   * never paid twice. When left out, the scheme makes one and keeps it for the same request and offer until the payment
   * is over, so that concurrent calls share one payment.
   */
  readonly nonce?: (terms: OfferedTerms) => string | Promise<string>;
  /** The most that the transaction may pay for priority, lamports; 1,000,000 when left out. */
  readonly mostPriorityFee?: bigint;
  /** Used instead of the global `fetch`, for the service only. */
  readonly fetch?: Fetch;
  /** Used instead of the machine's clock. */
  readonly clock?: ClientClock;
};

const LEAST_NONCE = 16;
/** How far the clocks of a seller, a buyer and the ledger may be apart, seconds. */
const CLOCKS_APART = 120;
/**
 * Reads of an answered payment that the buyer's service still shows as unsettled, and the pause between them. The
 * service may lag behind the seller's by 32 slots, 13 seconds.
 */
const LAG_TRIES = 15;
const LAG_PAUSE_MS = 1_000;

const refuse = (code: string, detail: string, cure: string): never => {
  throw new SettlementError(code, detail, `Nothing was signed. ${cure}`);
};

const offerOf = (requirements: PaymentRequirements, policy: TrustPolicy, nowMs: number) => {
  const required = valueOf(readRequirements(requirements as Requirements, placeOf(policy)));
  const mint =
    policy.supportedMints.find(({ address }) => address === required.mint) ??
    refuse(
      "unknown_mint",
      `The seller asks for the mint ${required.mint}, which the trust document does not list.`,
      "Ask for an offer in a mint that you trust.",
    );
  if (required.deadline > BigInt(Math.floor(nowMs / 1000) + required.ttlSeconds + CLOCKS_APART))
    refuse(
      "invalid_requirements",
      `extra.captureDeadline is more than maxTimeoutSeconds (${required.ttlSeconds} s) ahead.`,
      "Set this machine's clock, or have the seller set its own.",
    );
  const terms: OfferedTerms = {
    request: required.request,
    merchant: required.merchant,
    mint: mint.address,
    amount: formatUnits(required.amount, mint.decimals),
    ttl: required.ttlSeconds,
    expiresAt: formatUnixTime(required.deadline),
  };
  return { required, terms };
};

/**
 * The buyer's side of single payments (`auth-capture`), for `register` of an `x402Client`. `url` is the buyer's own service. Opens no
 * connection yet. @throws SettlementError for a wrong option.
 * @example
 * import { x402Client } from "@x402/core/client";
 * import { buyerScheme, networkOf } from "settlement-evidence/x402";
 *
 * const scheme = buyerScheme(service, { trust, signer, spend: { maxPerEscrow: "0.05" } });
 * new x402Client().register(networkOf(trust), scheme);
 * scheme.scheme; // => "auth-capture"
 */
export const buyerScheme = (url: string, options: BuyerOptions): SchemeNetworkClient => {
  const { signer, payer, judge, nonce, mostPriorityFee, clock = systemClock } = options;
  const policy = policyIn(options.trust);
  const requests = requestsTo(url, options.fetch, clock);
  const originObjection = originGuard(options.origins);
  const allow = spendGuard(options.spend ?? {}, clock.nowMs);
  const kept = keptPayments(clock.nowMs);

  /**
   * Whether a payment's escrow exists and can be presented: while it is Pending, or settled and its answer may have
   * been lost. `isOver` says whether that answer was given. Null for an escrow that no longer pays. @throws
   * SettlementError when the service does not say.
   */
  const standing = async (terms: PaymentTerms, isOver: boolean): Promise<boolean | null> => {
    let there = await escrowNow(requests, terms.escrow);
    for (let tries = isOver ? LAG_TRIES : 1; tries > 1; tries--) {
      if (there !== null && (there === "archived" || there.state !== "Pending")) break;
      await clock.pause(LAG_PAUSE_MS);
      there = await escrowNow(requests, terms.escrow);
    }
    if (there === null) return false;
    if (there === "archived") return null;
    // The agent signed it for this offer, or for an earlier one with an earlier end.
    requireSame(there, { ...terms, expiresAt: parseUnixTime(there.expires_at) ?? null });
    if (there.refundable)
      return refuse(
        "payment_expired",
        `The payment ${terms.escrow} for this request has expired, and can be had back.`,
        "Refund it first: settlement-evidence refund.",
      );
    return there.state === "Pending" || (there.state !== "Refunded" && !isOver) ? true : null;
  };

  /** The payload that pays what is required, once everything allows it. */
  const payloadFor = async (
    requirements: PaymentRequirements,
  ): Promise<Record<string, unknown>> => {
    const { required, terms: offered } = offerOf(requirements, policy, clock.nowMs());
    const objection = originObjection(offered.request) ?? judge?.(offered) ?? null;
    if (objection !== null) refuse("offer_refused", objection, "Ask the seller for another offer.");
    const own: KeptPayment | null = nonce === undefined ? kept.paymentFor(requirements) : null;
    const chosen = own?.nonce ?? (await nonce?.(offered)) ?? "";
    if (chosen.length < LEAST_NONCE)
      refuse(
        "invalid_nonce",
        `The nonce has ${chosen.length} characters; whoever guesses it can take the delivery.`,
        `Give at least ${LEAST_NONCE} that nobody can guess, and keep them.`,
      );
    const { merchant, mint, amount, expiresAt } = offered;
    const { task, attestor } = required;
    const ttl = Math.min(required.ttlSeconds + CLOCKS_APART, MAX_TTL_SECONDS);
    const terms = paymentTerms(
      { merchant, mint, amount, ttl, expiresAt, task, attestor, nonce: chosen },
      signer.address,
      policy,
    );
    const payment = { agent: terms.agent, nonce: chosen, escrow: terms.escrow };
    const isThere =
      own?.isTried === false ? false : await standing(terms, own?.isAnswered ?? false);
    if (isThere === true) return payment;
    if (isThere === null && own !== null) {
      kept.end(requirements, own);
      return payloadFor(requirements);
    }
    if (isThere === null)
      refuse(
        "payment_spent",
        `This nonce was paid into ${terms.escrow}, which is settled.`,
        "Give another nonce for another payment.",
      );
    if (own !== null) own.isTried = true;
    await allow(terms);
    const context = { requests, policy, mostPriorityFee };
    const { base64 } = await lockingTransaction(context, terms, { signer, payer });
    return { ...payment, create: base64 };
  };

  return {
    scheme: X402_SCHEME,
    schemeHooks: {
      onPaymentResponse: (context) => Promise.resolve(kept.noteAnswer(context)),
    },
    findDefaultAsset: (asset, network) => {
      const mint = policy.supportedMints.find(({ address }) => address === asset);
      return mint === undefined || !isUsdc(mint) || network !== placeOf(policy).network
        ? undefined
        : { asset, decimals: mint.decimals, symbol: mint.symbol };
    },
    createPaymentPayload: (version, requirements): Promise<PaymentPayloadResult> =>
      inOneLine(async () => {
        if (version !== X402_VERSION)
          refuse(
            "unsupported_version",
            `The seller speaks x402 version ${version}; the scheme is of ${X402_VERSION}.`,
            "Ask the seller for version 2.",
          );
        return { x402Version: version, payload: await payloadFor(requirements) };
      }),
  };
};
