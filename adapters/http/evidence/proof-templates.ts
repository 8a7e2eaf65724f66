import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import {
  listProofTemplates,
  readProofTemplate,
} from "../../../core/use-cases/evidence/proof-templates.ts";
import { endpoint } from "../server/endpoint.ts";
import {
  ProofTemplate,
  proofTemplateExamples,
  proofTemplateRecord,
} from "./proof-template-contract.ts";
import { data, list } from "../openapi/envelopes.ts";

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
