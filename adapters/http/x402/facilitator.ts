import { Effect } from "effect";
import type {
  InstructionBeyondBetaLimit,
  RelayRefusal,
} from "../../../core/use-cases/relay/relay-errors.ts";
import type { PaymentRefused } from "../../../core/use-cases/x402/judge-payment.ts";
import { settlePayment } from "../../../core/use-cases/x402/settle-payment.ts";
import { supportedPayments, verifyPayment } from "../../../core/use-cases/x402/verify-payment.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import { problemOfFailure } from "../problems/failure-problem.ts";
import { PROBLEM_CATALOGUE } from "../problems/problem-catalogue.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  packetAddress,
  paymentRequestOf,
  settledRecord,
  X402Request,
  x402RequestExample,
  X402Settled,
  x402SettledExample,
  X402Supported,
  x402SupportedExample,
  X402Verified,
} from "./payment-contract.ts";

/**
 * Why a payment is refused, in x402's terms: a code, a message with the mistake and its cure, and what is known of the
 * payment.
 */
type Refusal = {
  readonly code: string;
  readonly message: string;
  readonly agent: string | null;
  readonly escrow: string | null;
  readonly transaction: string;
};

/**
 * Failures that make a payment invalid. Temporary failures, such as a full queue, are not listed: they stay problems
 * with a status of their own.
 */
const OF_THE_PAYMENT = [
  "TransactionMalformed",
  "TransactionTooLarge",
  "SignatureMissing",
  "SignatureInvalid",
  "ProgramNotAllowed",
  "LookupTableNotAllowed",
  "DurableNonceNotAllowed",
  "ComputeBudgetExceeded",
  "ComputeBudgetInvalid",
  "SettlementCheckFailed",
  "FeePayerCannotPay",
  "TransactionRejected",
  "BlockhashExpired",
  "NotAnEscrow",
  "IdempotencyKeyReused",
  "IdempotencyKeyInFlight",
] as const satisfies ReadonlyArray<ApiFailure["_tag"]>;

type OfThePayment = Extract<ApiFailure, { readonly _tag: (typeof OF_THE_PAYMENT)[number] }>;

const NOTHING_KNOWN = { agent: null, escrow: null, transaction: "" };

const refusalOf = (failure: OfThePayment): Refusal => {
  const { code, detail, cure } = problemOfFailure(failure);
  return {
    ...NOTHING_KNOWN,
    code,
    message: `${detail} ${cure ?? PROBLEM_CATALOGUE[code].cure}`,
  };
};

const beyondBetaLimit = ({ faults }: InstructionBeyondBetaLimit): Refusal => ({
  ...NOTHING_KNOWN,
  code: "beta_limit_exceeded",
  message: `payload.create: ${faults.map(({ detail }) => detail).join("; ")}. ${PROBLEM_CATALOGUE.beta_limit_exceeded.cure}`,
});

/** The outcome of settling or verifying: its value, or the refusal as a value. Fails only with temporary failures. */
const orRefusal = <
  A,
  E extends PaymentRefused | InstructionBeyondBetaLimit | RelayRefusal | ApiFailure,
  R,
>(
  effect: Effect.Effect<A, E, R>,
) =>
  effect.pipe(
    Effect.map((value) => ({ value })),
    Effect.catch((failure) => {
      if (failure._tag === "PaymentRefused") {
        const { code, detail, cure, agent, escrow, transaction } = failure;
        const message = `${detail} ${cure}`;
        return Effect.succeed({
          refusal: { code, message, agent, escrow, transaction: transaction ?? "" },
        });
      }
      if (failure._tag === "InstructionBeyondBetaLimit")
        return Effect.succeed({ refusal: beyondBetaLimit(failure) });
      if ((OF_THE_PAYMENT as ReadonlyArray<string>).includes(failure._tag))
        return Effect.succeed({ refusal: refusalOf(failure as unknown as OfThePayment) });
      return Effect.fail(
        failure as Exclude<E, PaymentRefused | InstructionBeyondBetaLimit | OfThePayment>,
      );
    }),
  );

/** More than the longest payment needs: a URL of 4 KiB, three transactions and room for extensions. */
const MAX_PAYMENT_BYTES = 32 * 1024;
const body = { schema: X402Request, example: x402RequestExample, maxBytes: MAX_PAYMENT_BYTES };

/** `GET /x402/supported` */
export const supportedPaymentsEndpoint = endpoint({
  method: "GET",
  path: "/x402/supported",
  operationId: "supportedPayments",
  tag: "x402",
  summary: "Say what the x402 facilitator settles",
  description:
    "x402's own answer: the scheme `auth-capture` on this ledger, and `delivery-session`, whose calls their sellers judge and record themselves. There are no signers, since the service holds no keys.",
  budget: "reads",
  answers: {
    200: {
      description: "The kinds.",
      content: { "application/json": { schema: X402Supported, example: x402SupportedExample } },
    },
  },
  problems: ["ledger_unavailable", "ledger_timeout"],
}).handle(
  Effect.fnUntraced(function* () {
    const { version, schemes, network, custody, attestorProgram } = yield* supportedPayments();
    const extra = { custody, attestorProgram };
    const kinds = schemes.map((scheme) => ({ x402Version: version, scheme, network, extra }));
    return { json: { kinds, extensions: [], signers: {} } };
  }),
);

/** `POST /x402/verify` */
export const verifyPaymentEndpoint = endpoint({
  method: "POST",
  path: "/x402/verify",
  operationId: "verifyPayment",
  tag: "x402",
  summary: "Say whether an x402 payment would settle",
  description:
    "Judges a payment and simulates its transaction; nothing is sent. x402 does not call it in this flow: settling verifies everything itself. It counts like a relay, and five times when the simulation fails.",
  budget: "relay",
  body,
  answers: {
    200: {
      description: "Whether it would settle now, or the first thing that is wrong.",
      content: {
        "application/json": {
          schema: X402Verified,
          example: () => ({ isValid: true, payer: x402SettledExample().payer }),
        },
      },
    },
  },
  problems: ["ledger_unavailable", "ledger_timeout"],
}).handle(
  Effect.fnUntraced(function* ({ body, client }) {
    const verified = yield* orRefusal(verifyPayment(paymentRequestOf(body), client()));
    if ("value" in verified) return { json: { isValid: true, payer: verified.value } };
    const { code, message, agent } = verified.refusal;
    return {
      json: {
        isValid: false,
        invalidReason: code,
        invalidMessage: message,
        ...(agent === null ? {} : { payer: agent }),
      },
    };
  }),
);

/** `POST /x402/settle` */
export const settlePaymentEndpoint = endpoint({
  method: "POST",
  path: "/x402/settle",
  operationId: "settlePayment",
  tag: "x402",
  summary: "Settle an x402 payment",
  description:
    "Relays what buyer and seller have signed: the buyer's `create_escrow` to authorize; then, as the payload's `type` says, the seller's release (`capture`) or the merchant's cancellation (`void`). `refund` is refused, and so are calls of sessions (`session_call`). It signs nothing and can be repeated: what is done already is found. A refusal is a 200 with `success: false`, a stable `errorReason` and a line that names the cure; only what passes by itself is a problem.",
  budget: "relay",
  maySeconds: 240,
  body,
  answers: {
    200: {
      description: "What became of it.",
      content: { "application/json": { schema: X402Settled, example: x402SettledExample } },
    },
  },
  problems: [
    "relay_queue_full",
    "relay_share_full",
    "rate_limited",
    "store_unavailable",
    "ledger_unavailable",
    "ledger_timeout",
  ],
}).handle(
  Effect.fnUntraced(function* ({ body, client, origin }) {
    const settled = yield* orRefusal(settlePayment(paymentRequestOf(body), client()));
    if ("value" in settled) return { json: settledRecord(settled.value, origin()) };
    const { code, message, agent, escrow, transaction } = settled.refusal;
    const { network } = yield* supportedPayments();
    return {
      json: {
        success: false,
        errorReason: code,
        errorMessage: message,
        transaction,
        network,
        ...(agent === null ? {} : { payer: agent }),
        ...(escrow === null ? {} : { extra: { escrow, packet: packetAddress(origin(), escrow) } }),
      },
    };
  }),
);
