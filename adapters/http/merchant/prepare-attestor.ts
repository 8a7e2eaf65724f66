import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { prepareAttestor } from "../../../core/use-cases/merchant/prepare-attestor.ts";
import {
  callRecord,
  payerMember,
  preparedCall,
  transactionQuery,
} from "../escrow/prepare/prepared-call-contract.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { onSampleRegistry } from "../openapi/sample-ledger.ts";
import { sampleParties } from "../openapi/sample-values.ts";
import { Address, EXAMPLE_WALLET, PathAddress, record, RequestAddress } from "../openapi/values.ts";
import { fieldsOf } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";

const PrepareAttestorRequest = record("PrepareAttestorRequest", "A merchant's new attestor key.", {
  attestor: RequestAddress("The Ed25519 key that later escrows record."),
  revoke: Type.Optional(
    Type.Boolean({
      description:
        "True for a stolen key: escrows made before the change can then only be cancelled or refunded.",
    }),
  ),
  ...payerMember,
});

const PreparedAttestorCall = preparedCall("PreparedAttestorCall", {
  merchant: Address("The merchant's wallet, which must sign."),
  merchant_pda: Address("Its account in the attestor program."),
  previous_attestor: Address("The key that is replaced."),
  attestor: Address("The key that will be recorded."),
  revoke: Type.Boolean({ description: "Whether earlier escrows become impossible to release." }),
});

/** A body with another key of the samples. */
const bodyExample = (): Static<typeof PrepareAttestorRequest> => ({
  attestor: sampleParties().agent,
  revoke: true,
});

const preparedRecord = (call: Effect.Success<ReturnType<typeof prepareAttestor>>) => ({
  merchant: call.merchant as string,
  merchant_pda: call.merchantAccount as string,
  previous_attestor: call.previous as string,
  attestor: call.attestor as string,
  revoke: call.revoke,
  ...callRecord(call),
});

/** `POST /v1/merchants/{pubkey}/attestor/prepare` */
export const prepareAttestorEndpoint = endpoint({
  method: "POST",
  path: "/v1/merchants/{pubkey}/attestor/prepare",
  operationId: "prepareAttestor",
  tag: "Merchants",
  summary: "Prepare the rotation of a merchant's attestor key",
  description:
    "The instruction with which a merchant's wallet names a new attestor key. Existing escrows keep their recorded key. With `revoke` they become impossible to release. Signs, sends and keeps nothing.",
  budget: "reads",
  params: { pubkey: PathAddress("The merchant's wallet.", EXAMPLE_WALLET) },
  places: { wallet: "/pubkey" },
  query: Type.Object(transactionQuery, { additionalProperties: false }),
  body: { schema: PrepareAttestorRequest, example: bodyExample },
  answers: {
    200: {
      description: "The instruction, and the transaction when it was asked for.",
      content: {
        "application/json": {
          schema: ledgerRead(PreparedAttestorCall),
          example: () => ({
            data: preparedRecord(
              onSampleRegistry(
                true,
                prepareAttestor(
                  sampleParties().merchant,
                  fieldsOf({ ...bodyExample(), transaction: true }),
                ),
              ),
            ),
            context: READ_CONTEXT_EXAMPLE,
          }),
        },
      },
    },
  },
  problems: [
    "invalid_address",
    "merchant_not_found",
    "wrong_state",
    "ledger_unavailable",
    "ledger_timeout",
  ],
}).handle(
  Effect.fnUntraced(function* ({ params, query, body }) {
    const call = yield* prepareAttestor(params.pubkey, fieldsOf({ ...body, ...query }));
    return { json: { data: preparedRecord(call), context: readContext(call.at) } };
  }),
);
