import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { parseLedgerSignature } from "../../../core/domain/ledger/signature.ts";
import { readRelayOutcome } from "../../../core/use-cases/relay/read-relay-outcome.ts";
import { readRelayPolicy } from "../../../core/use-cases/relay/relay-admission.ts";
import type { InstructionBeyondBetaLimit } from "../../../core/use-cases/relay/relay-errors.ts";
import { relayTransaction } from "../../../core/use-cases/relay/relay-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { InvalidRequest, RequestBeyondBetaLimit } from "../problems/http-failures.ts";
import { endpoint } from "../server/endpoint.ts";
import { RelayPolicy, relayPolicyExample, relayPolicyRecord } from "./relay-policy-contract.ts";
import {
  RelayOutcome,
  relayOutcomeExample,
  SAMPLE_SIGNATURE,
  relayOutcomeRecord,
  RelayRequest,
  relayRequestExample,
  RelayResult,
  relayResultExample,
  relayResultRecord,
} from "./relay-contract.ts";
import { data } from "../openapi/envelopes.ts";
import { judged } from "../openapi/values.ts";

const MAX_KEY_LENGTH = 255;

/** The Idempotency-Key header, null when there is none. */
const idempotencyKeyOf = Effect.fnUntraced(function* (headers: Headers) {
  const key = headers.get("idempotency-key");
  if (key === null || (key.length <= MAX_KEY_LENGTH && /^[!-~]+$/.test(key))) return key;
  const detail = `must be 1 to ${MAX_KEY_LENGTH} visible ASCII characters`;
  return yield* new InvalidRequest({ faults: [{ pointer: "Idempotency-Key", detail }] });
});

/**
 * The whole transaction is one member of the body. A pointer cannot name the instruction in it, so the detail and its
 * index do.
 */
const beyondBetaLimit = ({ instructionIndex, faults }: InstructionBeyondBetaLimit) =>
  Effect.fail(
    new RequestBeyondBetaLimit({
      instructionIndex,
      faults: faults.map(({ detail }) => ({
        pointer: "/signed_transaction",
        detail: `instruction ${instructionIndex}: ${detail}`,
      })),
    }),
  );

/** `GET /v1/relay` */
export const readRelayPolicyEndpoint = endpoint({
  method: "GET",
  path: "/v1/relay",
  operationId: "readRelayPolicy",
  tag: "Relay",
  summary: "Describe the relay's policy",
  description: "Every rule and number the relay enforces.",
  budget: "reads",
  answers: {
    200: {
      description: "The policy.",
      content: {
        "application/json": {
          schema: data(RelayPolicy),
          example: () => ({ data: relayPolicyExample() }),
        },
      },
    },
  },
  problems: [],
}).handle(() =>
  Effect.map(readRelayPolicy, (policy) => ({ json: { data: relayPolicyRecord(policy) } })),
);

/** `POST /v1/relay` */
export const relayTransactionEndpoint = endpoint({
  method: "POST",
  path: "/v1/relay",
  operationId: "relayTransaction",
  tag: "Relay",
  summary: "Broadcast a signed transaction",
  description:
    "Takes a transaction that its signers have already signed; private keys are never sent here. Sending the same transaction again is safe and gives the same signature. With `confirm` the answer waits up to the policy's limit and is then `submitted`, never an error.",
  budget: "relay",
  maySeconds: 240,
  body: { schema: RelayRequest, example: relayRequestExample },
  answers: {
    202: {
      description: "The transaction was submitted.",
      content: {
        "application/json": {
          schema: data(RelayResult),
          example: () => ({ data: relayResultExample() }),
        },
      },
    },
  },
  problems: [
    "transaction_malformed",
    "transaction_too_large",
    "signature_missing",
    "signature_invalid",
    "program_not_allowed",
    "lookup_table_not_allowed",
    "durable_nonce_not_allowed",
    "compute_budget_exceeded",
    "compute_budget_invalid",
    "settlement_check_failed",
    "idempotency_key_reused",
    "idempotency_key_in_flight",
    "relay_queue_full",
    "relay_share_full",
    "rate_limited",
    "store_unavailable",
    "fee_payer_cannot_pay",
    "transaction_rejected",
    "blockhash_expired",
    "beta_limit_exceeded",
    "ledger_unavailable",
    "ledger_timeout",
  ],
  requestHeaders: {
    "Idempotency-Key": Type.String({
      minLength: 1,
      maxLength: MAX_KEY_LENGTH,
      pattern: "^[!-~]+$",
      description:
        "The client's own name for this request, visible ASCII. A repetition with the same body gets the first answer, word for word.",
    }),
  },
}).handle(
  Effect.fnUntraced(function* ({ body, headers, client }) {
    const idempotencyKey = yield* idempotencyKeyOf(headers);
    const result = yield* relayTransaction({
      client: client(),
      ...(idempotencyKey === null ? {} : { idempotencyKey }),
      signedTransaction: body.signed_transaction,
      confirm: body.confirm ?? false,
      skipPreflight: body.skip_preflight ?? false,
    }).pipe(Effect.catchTag("InstructionBeyondBetaLimit", beyondBetaLimit));
    return { json: { data: relayResultRecord(result, yield* Instance) } };
  }),
);

/** `GET /v1/relay/{signature}` */
export const readRelayOutcomeEndpoint = endpoint({
  method: "GET",
  path: "/v1/relay/{signature}",
  operationId: "readRelayOutcome",
  tag: "Relay",
  summary: "Find out what became of a transaction",
  description:
    "For any signature, relayed here or not, at any time. Sign a payment again only when `safe_to_sign_again` is true; a 404 means that the transaction is not known yet; it can still land.",
  budget: "reads",
  params: {
    signature: Type.String({
      description: "The transaction's first signature. Base58 of 64 bytes.",
      ...judged({ pattern: "^[1-9A-HJ-NP-Za-km-z]{64,88}$", minLength: 64, maxLength: 88 }),
      examples: [SAMPLE_SIGNATURE],
    }),
  },
  answers: {
    200: {
      description: "The outcome so far.",
      content: {
        "application/json": {
          schema: data(RelayOutcome),
          example: () => ({ data: relayOutcomeExample() }),
        },
      },
    },
  },
  problems: ["transaction_not_found", "store_unavailable", "ledger_unavailable", "ledger_timeout"],
}).handle(
  Effect.fnUntraced(function* ({ params }) {
    const signature = parseLedgerSignature(params.signature);
    if (signature === undefined)
      return yield* new InvalidRequest({
        faults: [{ pointer: "/signature", detail: "must be base58 of 64 bytes" }],
      });
    const outcome = yield* readRelayOutcome(signature);
    return { json: { data: relayOutcomeRecord(outcome, yield* Instance) } };
  }),
);
