import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  type ProofTemplate as DomainProofTemplate,
  proofHash,
  proofTemplateSchema,
} from "../../../core/domain/evidence/proof-template.ts";
import {
  listProofTemplates,
  readProofTemplate,
} from "../../../core/use-cases/evidence/proof-templates.ts";
import { data, list } from "../openapi/envelopes.ts";
import { Hash, oneOf, record } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";

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
const ProofTemplate = record(
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
type ProofTemplateRecord = Static<typeof ProofTemplate>;

/** A proof template as JSON. */
const proofTemplateRecord = (template: DomainProofTemplate): ProofTemplateRecord => ({
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
const proofTemplateExamples = () => listProofTemplates("api-data").map(proofTemplateRecord);

/** `GET /v1/proof-templates` */
export const listProofTemplatesEndpoint = endpoint({
  method: "GET",
  path: "/v1/proof-templates",
  operationId: "listProofTemplates",
  tag: "Proof templates",
  summary: "List delivery proof templates",
  description: "API and data templates first. A wedge that has no templates gives an empty list.",
  budget: "reads",
  query: Type.Object(
    {
      wedge: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 64,
          description: "Only the templates of this wedge.",
          examples: ["api-data"],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: {
      description: "The templates.",
      content: {
        "application/json": {
          schema: list(ProofTemplate),
          example: () => ({ data: proofTemplateExamples().slice(0, 1) }),
        },
      },
    },
  },
  problems: [],
}).handle(({ query }) =>
  Effect.succeed({ json: { data: listProofTemplates(query.wedge).map(proofTemplateRecord) } }),
);

/** `GET /v1/proof-templates/{id}` */
export const readProofTemplateEndpoint = endpoint({
  method: "GET",
  path: "/v1/proof-templates/{id}",
  operationId: "readProofTemplate",
  tag: "Proof templates",
  summary: "Read one delivery proof template",
  description: "Its fields, its JSON Schema, and an example with its proof hash.",
  budget: "reads",
  params: {
    id: Type.String({ description: "The template's id.", examples: ["api-delivered-v1"] }),
  },
  answers: {
    200: {
      description: "The template.",
      content: {
        "application/json": {
          schema: data(ProofTemplate),
          example: () => ({ data: proofTemplateExamples()[0] }),
        },
      },
    },
  },
  problems: ["proof_template_not_found"],
}).handle(({ params }) =>
  Effect.map(readProofTemplate(params.id), (template) => ({
    json: { data: proofTemplateRecord(template) },
  })),
);
