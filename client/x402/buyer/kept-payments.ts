import type { PaymentResponseContext } from "@x402/core/client";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { PaymentRequirements } from "@x402/core/types";
import {
  type PaymentRequirements as Requirements,
  requirementsDigest,
} from "../../../core/protocol/x402/payment-payload.ts";

/** A payment that stands for one offer of one request until it is over. */
export type KeptPayment = {
  readonly nonce: string;
  /** Whether it may have been signed before. */
  isTried: boolean;
  /** Whether an answer said that it was settled, or that it was spent. */
  isAnswered: boolean;
  /** When its escrow has expired at the latest, milliseconds since 1970. */
  untilMs: number;
};

const RANDOM_NONCE_BYTES = 16;
/** What lies between a signature and the second in which the ledger takes it, at most. */
const LANDING_MS = 180_000;

const digestOf = (requirements: PaymentRequirements): string =>
  requirementsDigest(requirements as Requirements) ?? "";

/** The payments of one scheme whose nonces it makes up, by the digest of the requirements, which name the request. */
export const keptPayments = (nowMs: () => number) => {
  const kept = new Map<string, KeptPayment>();
  return {
    /** The payment that stands, or a new one. */
    paymentFor: (requirements: PaymentRequirements): KeptPayment => {
      const now = nowMs();
      for (const [digest, { isAnswered, untilMs }] of kept)
        if (isAnswered && untilMs <= now) kept.delete(digest);
      const digest = digestOf(requirements);
      const payment = kept.get(digest) ?? {
        nonce: bytesToHex(crypto.getRandomValues(new Uint8Array(RANDOM_NONCE_BYTES))),
        isTried: false,
        isAnswered: false,
        untilMs: 0,
      };
      payment.untilMs = now + requirements.maxTimeoutSeconds * 1000 + LANDING_MS;
      kept.set(digest, payment);
      return payment;
    },
    /** Ends a payment that is over, so that the next is another; one that was begun meanwhile stands. */
    end: (requirements: PaymentRequirements, payment: KeptPayment): void => {
      const digest = digestOf(requirements);
      if (kept.get(digest) === payment) kept.delete(digest);
    },
    /** Notes what an answer says. Whether it is true, the ledger says when the next payment is asked for. */
    noteAnswer: ({
      paymentPayload,
      requirements,
      settleResponse,
    }: PaymentResponseContext): void => {
      const payment = kept.get(digestOf(requirements));
      if (payment === undefined || payment.nonce !== paymentPayload.payload["nonce"]) return;
      if (settleResponse?.success === true || settleResponse?.errorReason === "payment_spent")
        payment.isAnswered = true;
    },
  };
};

/** The program's own `fetch`, which asks sellers as the program likes, redirects included. */
type Fetching = typeof globalThis.fetch;

/**
 * A `fetch` for `wrapFetchWithPayment` that gives a paid answer once all of it is there, and rejects when it is cut off: x402 shows a scheme no more than the headers, so a body
 * that is lost would else count as an answer, and the next call as another payment.
 */
export const wholeAnswers = (fetchWith: Fetching = globalThis.fetch): Fetching =>
  (async (...request: Parameters<Fetching>) => {
    const answer = await fetchWith(...request);
    if (answer.headers.has("payment-response")) await answer.clone().arrayBuffer();
    return answer;
  }) as Fetching;
