import type { PaymentResponseContext } from "@x402/core/client";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { PaymentRequirements } from "@x402/core/types";
import {
  type PaymentRequirements as Requirements,
  requirementsDigest,
} from "../../../core/protocol/x402/payment-requirements.ts";

/** The payment for one offer of one request. It is reused until it is over, so that a retry does not pay twice. */
export type KeptPayment = {
  readonly nonce: string;
  /** Whether it may already have been signed. */
  isTried: boolean;
  /** Whether an answer said that it was settled, or that it was spent. */
  isAnswered: boolean;
  /** A time by which its escrow has expired, milliseconds since 1970. */
  untilMs: number;
};

const RANDOM_NONCE_BYTES = 16;
/** The longest time from a signature until the ledger accepts the transaction, milliseconds. */
const LANDING_MS = 180_000;

const digestOf = (requirements: PaymentRequirements): string =>
  requirementsDigest(requirements as Requirements) ?? "";

/**
 * The payments with random nonces of one scheme, by the digest of the requirements. The requirements name the request.
 */
export const keptPayments = (nowMs: () => number) => {
  const kept = new Map<string, KeptPayment>();
  return {
    /** The current payment of these requirements, or a new one. */
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
    /** Removes a payment that is over, so that the next call makes a new one. A newer payment is left alone. */
    end: (requirements: PaymentRequirements, payment: KeptPayment): void => {
      const digest = digestOf(requirements);
      if (kept.get(digest) === payment) kept.delete(digest);
    },
    /** Notes that an answer calls the payment settled or spent. The next payment checks that on the ledger. */
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

/** The program's own `fetch`. It may follow redirects. */
type Fetching = typeof globalThis.fetch;

/**
 * A `fetch` for `wrapFetchWithPayment` that resolves once the whole answer is there, and rejects when it is cut off.
 * x402 shows a scheme only the headers. Without this, a lost body would count as an answer, and the next call would pay
 * again.
 * @example
 * import { x402Client } from "@x402/core/client";
 * import { wrapFetchWithPayment } from "@x402/fetch";
 * import { wholeAnswers } from "settlement-evidence/x402";
 *
 * const pay = wrapFetchWithPayment(wholeAnswers(), new x402Client());
 * typeof pay; // => "function"
 */
export const wholeAnswers = (fetchWith: Fetching = globalThis.fetch): Fetching =>
  (async (...request: Parameters<Fetching>) => {
    const answer = await fetchWith(...request);
    if (answer.headers.has("payment-response")) await answer.clone().arrayBuffer();
    return answer;
  }) as Fetching;
