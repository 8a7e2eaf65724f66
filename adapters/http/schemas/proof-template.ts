import { type Static, Type } from "@sinclair/typebox";
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
export type ProofTemplateRecord = Static<typeof ProofTemplate>;
