import {
  proofHash,
  type ProofTemplate,
  proofTemplateSchema,
} from "../../../core/domain/evidence/proof-template.ts";
import type { ProofTemplateRecord } from "../schemas/proof-template.ts";

/** A proof template as JSON. */
export const proofTemplateRecord = (template: ProofTemplate): ProofTemplateRecord => ({
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
