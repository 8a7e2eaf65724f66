import { type Static, Type } from "@sinclair/typebox";
import { bytesToHex } from "@noble/hashes/utils.js";
import { Effect } from "effect";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import {
  prepareAttestation,
  type PreparedAttestation as Prepared,
} from "../../../../core/use-cases/escrow/prepare/prepare-attestation.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template.ts";
import { ledgerRead, READ_CONTEXT_EXAMPLE, readContext } from "../../openapi/envelopes.ts";
import { onSampleLedger, samplePendingEscrow } from "../../openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow } from "../../openapi/sample-values.ts";
import {
  Address,
  Base64,
  Count,
  Hash,
  judged,
  nullable,
  OrNull,
  PathAddress,
  record,
  Stroops,
  Time,
} from "../../openapi/values.ts";
import { MAX_PAYLOAD_BODY_BYTES } from "../../request/request-body.ts";
import { fieldsOf } from "../../request/request-fields.ts";
import { endpoint } from "../../server/endpoint.ts";
import { PREPARE_PROBLEMS } from "./prepared-call-contract.ts";

const PrepareAttestationRequest = record(
  "PrepareAttestationRequest",
  "What is to be attested: a delivery payload, or its hash.",
  {
    payload: Type.Optional(
      Type.Object(
        {},
        {
          description:
            "The delivery payload, the preimage of the proof hash. Its RFC 8785 bytes are hashed; it is neither stored nor logged.",
          additionalProperties: true,
        },
      ),
    ),
    proof_hash: Type.Optional(Type.String({ description: "32 bytes as 64 hex digits." })),
    template_id: OrNull(
      "The proof template that the payload must meet. By default the payload's own `proof_template_id`.",
    ),
    amount_stroops: Type.Optional(
      Type.String({
        description:
          "Base units for the merchant in all, what was captured included. Leave it out for the escrow's whole amount.",
      }),
    ),
    deliveries: Type.Optional(
      Type.Integer({
        description:
          "How many deliveries in all, 1 to 4294967295. 1 when left out; a single payment has no other.",
        ...judged({ minimum: 1, maximum: 4_294_967_295 }),
      }),
    ),
    final: Type.Optional(
      Type.Boolean({
        description:
          "Whether nothing follows: true when left out, for a release. False for a capture, which only a session takes.",
      }),
    ),
  },
);

const PreparedAttestation = record("PreparedAttestation", "What the escrow's attestor signs.", {
  escrow_pda: Address("The escrow."),
  domain: Hash("The ledger and its custody program: bytes 8 to 39 of the message."),
  terms: Hash(
    "The escrow, as the SHA-256 of its account's bytes right after its creation: bytes 40 to 71 of the message.",
  ),
  proof_hash: Hash("The attested hash, bytes 72 to 103 of the message."),
  template_id: nullable(Type.String(), { description: "The template that the payload meets." }),
  timestamp: Time("The ledger's time, which the message carries. Send it to the release as it is."),
  amount_stroops: nullable(Stroops("For the merchant in all, bytes 104 to 111 of the message."), {
    description: "Null: the whole amount.",
  }),
  deliveries: Count("Bytes 120 to 123 of the message."),
  final: Type.Boolean({ description: "Byte 124 of the message: 1 or 0." }),
  message_hex: Type.String({
    description: "128 bytes.",
    pattern: "^[0-9a-f]{256}$",
  }),
  message_base64: Base64("The same bytes."),
  attestor: Address("The Ed25519 key that must sign the message."),
  until: Time(
    "From this second on a release with it is too late, or a capture for one that is not final.",
  ),
});

const preparedRecord = (prepared: Prepared): Static<typeof PreparedAttestation> => ({
  escrow_pda: prepared.escrow,
  domain: prepared.domain,
  terms: prepared.terms,
  proof_hash: prepared.proofHash,
  template_id: prepared.templateId,
  timestamp: formatUnixTime(prepared.timestamp),
  amount_stroops: prepared.amount?.toString() ?? null,
  deliveries: prepared.deliveries,
  final: prepared.isFinal,
  message_hex: bytesToHex(prepared.message),
  message_base64: encodeBase64(prepared.message),
  attestor: prepared.attestor,
  until: formatUnixTime(prepared.until),
});

const bodyExample = (): Static<typeof PrepareAttestationRequest> => ({
  payload: { ...PROOF_TEMPLATES[0]?.example, task_hash: sampleEscrow().taskHash },
});

const example = () => {
  const escrow = samplePendingEscrow();
  const at = { escrow, ledgerTime: SAMPLE.createdAt + 30n };
  const prepared = onSampleLedger(at, prepareAttestation(escrow.address, fieldsOf(bodyExample())));
  return { data: preparedRecord(prepared), context: READ_CONTEXT_EXAMPLE };
};

/** `POST /v1/escrows/{pda}/attestation/prepare` */
export const prepareAttestationEndpoint = endpoint({
  method: "POST",
  path: "/v1/escrows/{pda}/attestation/prepare",
  operationId: "prepareAttestation",
  tag: "Escrows",
  summary: "Prepare the message that an escrow's attestor signs",
  description:
    "Checks that the payload meets its template and names the escrow's task, and hashes it (RFC 8785, SHA-256). The answer is the message to sign, with the ledger's time in it. Before signing, build the message anew from what you know: the domain from the genesis hash that you pinned, the terms from the escrow's account, the proof hash from the payload. Signs and keeps nothing.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  body: {
    schema: PrepareAttestationRequest,
    example: bodyExample,
    maxBytes: MAX_PAYLOAD_BODY_BYTES,
  },
  answers: {
    200: {
      description: "The message.",
      content: { "application/json": { schema: ledgerRead(PreparedAttestation), example } },
    },
  },
  problems: [...PREPARE_PROBLEMS, "proof_template_not_found"],
}).handle(
  Effect.fnUntraced(function* ({ params, body }) {
    const prepared = yield* prepareAttestation(params.pda, fieldsOf(body));
    return { json: { data: preparedRecord(prepared), context: readContext(prepared.at) } };
  }),
);
