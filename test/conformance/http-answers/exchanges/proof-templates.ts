import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template.ts";
import { type Exchange, get } from "../exchange.ts";

const read = (title: string, id: string) =>
  get("readProofTemplate", title, `/v1/proof-templates/${id}`);
const list = (title: string, query = "") =>
  get("listProofTemplates", title, `/v1/proof-templates${query}`);

/** What the operations on proof templates answer. */
export const proofTemplateExchanges: ReadonlyArray<Exchange> = [
  list("all"),
  list("of a wedge", "?wedge=api-data"),
  list("of an unknown wedge", "?wedge=nothing"),
  list("an empty wedge", "?wedge="),
  list("a wedge that is too long", `?wedge=${"x".repeat(65)}`),
  ...PROOF_TEMPLATES.map(({ id }) => read(id, id)),
  read("an unknown template", "nothing"),
  read("invalid percent-encoding", "%ff"),
];
