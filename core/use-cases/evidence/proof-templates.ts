import { Effect } from "effect";
import { PROOF_TEMPLATES, type ProofTemplate } from "../../domain/evidence/proof-template.ts";
import { ProofTemplateNotFound } from "../request-errors.ts";

/** The templates of a wedge, or all of them, API and data first. Empty for an unknown wedge. */
export const listProofTemplates = (wedge?: string): ReadonlyArray<ProofTemplate> =>
  PROOF_TEMPLATES.filter((template) => wedge === undefined || template.wedge === wedge);

/** The template with an id. Fails with `ProofTemplateNotFound`. */
export const readProofTemplate = (
  id: string,
): Effect.Effect<ProofTemplate, ProofTemplateNotFound> => {
  const template = PROOF_TEMPLATES.find((candidate) => candidate.id === id);
  return template === undefined
    ? Effect.fail(new ProofTemplateNotFound({ id }))
    : Effect.succeed(template);
};
