import { type Static, Type } from "@sinclair/typebox";
import {
  proofHash,
  type ProofTemplate as DomainProofTemplate,
  proofTemplateSchema,
} from "../../../core/domain/evidence/proof-template.ts";
import { listProofTemplates } from "../../../core/use-cases/evidence/proof-templates.ts";
import { Hash, oneOf, record } from "../openapi/values.ts";

const ProofField = record("ProofField", "One field of a delivery payload.", {
  name: Type.String(),
  type: oneOf(
    ["constant", "hash", "url", "http_status", "count", "time", "text"],
    "What the field holds.",
  ),
  required: Type.Boolean(),
  description: Type.String(),
});

/** A reusable shape for delivery payloads. */
export const ProofTemplate = record(
  "ProofTemplate",
  "A reusable shape for the payload whose hash an attestor signs as `proof_hash`.",
  {
    id: Type.String(),
    wedge: Type.String(),
    category: oneOf(["api", "travel", "tickets", "commerce"], "What is delivered."),
    title: Type.String(),
    description: Type.String(),
    fields: Type.Array(ProofField),
    json_schema: Type.Object(
      {},
      { additionalProperties: true, description: "JSON Schema 2020-12 of the payload." },
    ),
    hashing: record("ProofHashing", "How a payload becomes `proof_hash`.", {
      canonicalization: Type.Literal("RFC 8785"),
      algorithm: Type.Literal("sha256"),
    }),
    example: Type.Object({}, { additionalProperties: true, description: "A valid payload." }),
    example_proof_hash: Hash("The proof hash of `example`."),
  },
);
/** A proof template as JSON, with the JSON Schema of its payloads. */
export type ProofTemplateRecord = Static<typeof ProofTemplate>;

/** A proof template as JSON. */
export const proofTemplateRecord = (template: DomainProofTemplate): ProofTemplateRecord => ({
  id: template.id,
  wedge: template.wedge,
  category: template.category,
  title: template.title,
  description: template.description,
  fields: template.fields.map(({ name, type, required, description }) => ({
    name,
    type,
    required,
    description,
  })),
  json_schema: proofTemplateSchema(template),
  hashing: { canonicalization: "RFC 8785", algorithm: "sha256" },
  example: template.example,
  example_proof_hash: proofHash(template.example),
});

/** The templates of API and data deliveries as answers show them. */
export const proofTemplateExamples = () => listProofTemplates("api-data").map(proofTemplateRecord);
