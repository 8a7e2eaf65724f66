import { Effect } from "effect";
import { verifyDelivery } from "../../../core/use-cases/evidence/verify-delivery.ts";
import { MAX_PAYLOAD_BODY_BYTES } from "../request/body-limits.ts";
import { fieldPointers } from "../request/request-fields.ts";
import { READ_ESCROW_PROBLEMS } from "../escrow/read-problems.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  DeliveryComparison,
  deliveryExample,
  deliveryRecord,
  verifyDeliveryExample,
  VerifyDeliveryRequest,
} from "./delivery-contract.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { PathAddress } from "../openapi/values.ts";

const pointers = fieldPointers({ pda: "/pda", payload: "/payload" });

/** `POST /v1/evidence/{pda}/verify` */
export const verifyDeliveryEndpoint = endpoint({
  method: "POST",
  path: "/v1/evidence/{pda}/verify",
  operationId: "verifyDelivery",
  tag: "Evidence",
  summary: "Compare a delivery payload with an escrow",
  description:
    "Hashes the payload (RFC 8785, SHA-256), compares the hash with the escrow's `proof_hash` and the payload with its proof template, field by field. The payload is neither stored nor logged. A match shows that the attestor signed this payload's hash. It does not show that anything was delivered.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  body: {
    schema: VerifyDeliveryRequest,
    example: verifyDeliveryExample,
    maxBytes: MAX_PAYLOAD_BODY_BYTES,
  },
  answers: {
    200: {
      description: "The comparison.",
      content: {
        "application/json": {
          schema: ledgerRead(DeliveryComparison),
          example: () => ({ data: deliveryExample(), context: READ_CONTEXT_EXAMPLE }),
        },
      },
    },
  },
  problems: [...READ_ESCROW_PROBLEMS, "proof_template_not_found"],
}).handle(
  Effect.fnUntraced(function* ({ params, body }) {
    const comparison = yield* verifyDelivery(params.pda, {
      payload: body.payload,
      templateId: body.template_id ?? undefined,
    }).pipe(
      Effect.catchTags({
        ValidationFailed: pointers.validationFailed,
        InvalidAddress: pointers.invalidAddress,
      }),
    );
    return {
      json: { data: deliveryRecord(comparison), context: readContext(comparison.live) },
    };
  }),
);
