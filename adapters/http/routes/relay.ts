import { Effect } from "effect";
import { readRelayPolicy } from "../../../core/use-cases/relay-policy.ts";
import { relayTransaction } from "../../../core/use-cases/relay-transaction.ts";
import { Instance } from "../../../ports/instance.ts";
import { endpoint } from "../endpoint.ts";
import { relayPolicyExample, relayRequestExample, relayResultExample } from "../examples/relay.ts";
import { relayPolicyRecord, relayResultRecord } from "../records/relay.ts";
import { data } from "../schemas/envelopes.ts";
import { RelayPolicy, RelayRequest, RelayResult } from "../schemas/relay.ts";

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
  handle: () =>
    Effect.map(readRelayPolicy, (policy) => ({ json: { data: relayPolicyRecord(policy) } })),
});

/** `POST /v1/relay` */
export const relayTransactionEndpoint = endpoint({
  method: "POST",
  path: "/v1/relay",
  operationId: "relayTransaction",
  tag: "Relay",
  summary: "Broadcast a signed transaction",
  description:
    "Takes a transaction that its signers have already signed; private keys never come here. Sending the same transaction again is safe and gives the same signature. With `confirm` the answer waits up to the policy's limit and is then `submitted`, never an error.",
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
    "fee_payer_cannot_pay",
    "transaction_rejected",
    "blockhash_expired",
    "beta_limit_exceeded",
    "ledger_unavailable",
    "ledger_timeout",
  ],
  handle: Effect.fnUntraced(function* ({ body }) {
    const result = yield* relayTransaction({
      signedTransaction: body.signed_transaction,
      confirm: body.confirm ?? false,
      skipPreflight: body.skip_preflight ?? false,
    });
    return { json: { data: relayResultRecord(result, yield* Instance) } };
  }),
});
