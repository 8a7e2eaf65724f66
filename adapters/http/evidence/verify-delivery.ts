import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { compareWithTemplate, JSON_TYPES } from "../../../core/domain/evidence/delivery-payload.ts";
import { PROOF_TEMPLATES, proofHash } from "../../../core/domain/evidence/proof-template.ts";
import {
  type DeliveryComparison as Comparison,
  verifyDelivery,
} from "../../../core/use-cases/evidence/verify-delivery.ts";
import { READ_ESCROW_PROBLEMS } from "../escrow/read-escrow.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../openapi/envelopes.ts";
import { sampleEscrow } from "../openapi/sample-values.ts";
import {
  Address,
  EscrowState,
  Hash,
  nullable,
  oneOf,
  PathAddress,
  record,
} from "../openapi/values.ts";
import { MAX_PAYLOAD_BODY_BYTES } from "../request/request-body.ts";
import { fieldsOf } from "../request/request-fields.ts";
import { endpoint } from "../server/endpoint.ts";

/** The body of `POST /v1/evidence/{pda}/verify`. */
const VerifyDeliveryRequest = record(
  "VerifyDeliveryRequest",
  "A delivery payload to compare with an escrow.",
  {
    payload: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          "The payload whose hash the attestor signed, every member of it. Numbers that JSON does not carry exactly are refused.",
      },
    ),
    template_id: Type.Optional(
      nullable(Type.String({ minLength: 1, maxLength: 64 }), {
        description:
          "The proof template; by default the payload's own `proof_template_id`. Null counts as absent.",
        examples: ["api-delivered-v1"],
      }),
    ),
  },
);

const FieldComparison = record("DeliveryField", "How one member compares with the template.", {
  name: Type.String(),
  outcome: oneOf(
    ["ok", "absent", "missing", "invalid", "unexpected"],
    "`absent` is optional and not there, `missing` required and not there, `unexpected` not in the template.",
  ),
  expected: nullable(Type.String({ description: "What the template asks for." }), {
    description: "Null when nothing is wrong.",
  }),
  found: nullable(oneOf(JSON_TYPES, "The JSON type of what is there."), {
    description: "Null when nothing is there.",
  }),
});

/** How a delivery payload compares with an escrow. */
const DeliveryComparison = record(
  "DeliveryComparison",
  "How a delivery payload compares with an escrow. It shows whether this payload's hash was signed, and not that anything was delivered.",
  {
    escrow_pda: Address("The escrow."),
    state: EscrowState,
    matches: nullable(Type.Boolean(), {
      description:
        "Whether the two hashes are the same; null until the escrow has one. A session's is the root over its deliveries.",
    }),
    meaning: Type.String({ description: "What `matches` means, in words." }),
    payload_proof_hash: Hash("SHA-256 of the payload's RFC 8785 bytes."),
    escrow_proof_hash: nullable(Hash("What the attestor signed."), {
      description: "Null until the escrow is released.",
    }),
    task_hash_bound: nullable(Type.Boolean(), {
      description:
        "Whether the payload's `task_hash` is the escrow's; null when the payload has none.",
    }),
    escrow_task_hash: Hash("What was paid for."),
    network_bound: nullable(Type.Boolean(), {
      description:
        "Whether the payload's `network` is the genesis hash of the escrow's ledger; null when the payload has none.",
    }),
    template: nullable(
      record("DeliveryTemplateComparison", "The payload compared with its template.", {
        id: Type.String(),
        valid: Type.Boolean({ description: "Whether every field is as the template asks." }),
        fields: Type.Array(FieldComparison),
      }),
      { description: "Null when no template was named, or the payload names an unknown one." },
    ),
  },
);
/** How a delivery compares with an escrow's proof hash and a template, as JSON. */
type DeliveryComparisonRecord = Static<typeof DeliveryComparison>;

const meaningOf = (matches: boolean | null, { sessionKey }: Escrow): string => {
  if (matches === null)
    return "The escrow has no proof hash: nothing was attested, so there is nothing to compare with.";
  if (!matches && sessionKey !== null)
    return "The escrow is a session: what the merchant's attestor signed is the root over its deliveries, which no single payload has as its hash. This says nothing of the payload.";
  return matches
    ? "This is the payload whose hash the merchant's attestor signed. A hash cannot show whether its content is true."
    : "This is not the payload whose hash the merchant's attestor signed.";
};

/** A comparison of a delivery payload with an escrow as JSON. */
const deliveryRecord = (
  comparison: Omit<Comparison, "live"> & {
    readonly live: Pick<Comparison["live"], "escrow">;
  },
): DeliveryComparisonRecord => {
  const { live, matches, template } = comparison;
  return {
    escrow_pda: live.escrow.address,
    state: live.escrow.state,
    matches,
    meaning: meaningOf(matches, live.escrow),
    payload_proof_hash: comparison.computedProofHash,
    escrow_proof_hash: comparison.escrowProofHash,
    task_hash_bound: comparison.taskHashBound,
    escrow_task_hash: live.escrow.taskHash,
    network_bound: comparison.networkBound,
    template:
      template === null
        ? null
        : { id: template.id, valid: template.valid, fields: [...template.fields] },
  };
};

const samplePayload = () => ({
  ...PROOF_TEMPLATES[0]?.example,
  task_hash: sampleEscrow().taskHash as string,
});

/** The payload that the sample escrow's attestor signed the hash of. */
const verifyDeliveryExample = () => ({ payload: samplePayload() });

/** The answer to that payload. */
const deliveryExample = () => {
  const [template] = PROOF_TEMPLATES;
  const escrow = sampleEscrow();
  const hash = proofHash(samplePayload());
  return deliveryRecord({
    live: { escrow },
    computedProofHash: hash,
    escrowProofHash: escrow.attestation?.proofHash ?? null,
    matches: escrow.attestation?.proofHash === hash,
    taskHashBound: true,
    networkBound: null,
    template:
      template === undefined
        ? null
        : { id: template.id, valid: true, fields: compareWithTemplate(samplePayload(), template) },
  });
};

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
    const comparison = yield* verifyDelivery(params.pda, fieldsOf(body));
    return {
      json: { data: deliveryRecord(comparison), context: readContext(comparison.live) },
    };
  }),
);
