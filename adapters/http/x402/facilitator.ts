import { Effect } from "effect";
import { settlePayment } from "../../../core/use-cases/x402/settle-payment.ts";
import { supportedPayments } from "../../../core/use-cases/x402/supported-payments.ts";
import { verifyPayment } from "../../../core/use-cases/x402/verify-payment.ts";
import { endpoint } from "../server/endpoint.ts";
import { orRefusal } from "./refused-payment.ts";
import {
  packetAddress,
  settledRecord,
  X402Settled,
  x402SettledExample,
  X402Supported,
  x402SupportedExample,
  X402Verified,
} from "./payment-answers.ts";
import { paymentRequestOf, X402Request, x402RequestExample } from "./payment-contract.ts";

/** Above the longest payment: a URL of 4 KiB, three transactions and room for extensions. */
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
    "x402's own answer: one kind, the scheme `escrow` on this ledger. There are no signers, since the service holds no keys.",
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
    const { version, scheme, network, custody, attestorProgram } = yield* supportedPayments();
    const kind = { x402Version: version, scheme, network, extra: { custody, attestorProgram } };
    return { json: { kinds: [kind], extensions: [], signers: {} } };
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
    "Judges a payment and simulates its transaction; nothing is sent. The flow `escrow` does not call it: settling verifies everything itself. It counts like a relay, and five times when the simulation fails.",
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
    "Relays what buyer and seller have signed, in the phase that the payload names: the buyer's `create_escrow` before the seller's handler, then the seller's release or the merchant's cancellation. It signs nothing and can be repeated: what is done already is found. A refusal is a 200 with `success: false`, a stable `errorReason` and a line that names the cure; only what passes by itself is a problem.",
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
