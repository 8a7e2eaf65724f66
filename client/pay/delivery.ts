import { canonicalFault, type Json } from "../../core/domain/encoding/canonical-json.ts";
import { compareWithTemplate } from "../../core/domain/evidence/delivery-payload.ts";
import { PROOF_TEMPLATES, proofHash } from "../../core/domain/evidence/proof-template.ts";

/** A delivery payload: a JSON object whose hash an attestor signs. */
export type DeliveryPayload = { readonly [name: string]: Json };

/** The buyer's own check of a payload: null when it is good, otherwise why it is not. */
export type Validate = (payload: DeliveryPayload) => string | null | Promise<string | null>;

/** Whether a payload was attested and passes the buyer's check. `reasons` is empty when it does. */
export type DeliveryJudgement = {
  readonly accepted: boolean;
  readonly reasons: ReadonlyArray<string>;
};

const templateReasons = (payload: DeliveryPayload, id: string): ReadonlyArray<string> => {
  const template = PROOF_TEMPLATES.find((each) => each.id === id);
  if (template === undefined) return [`there is no template ${id}`];
  return compareWithTemplate(payload, template)
    .filter(({ outcome }) => outcome !== "ok" && outcome !== "absent")
    .map(
      ({ name, outcome, expected }) => `${name} is ${outcome}: ${expected ?? "expected another"}`,
    );
};

/**
 * Why a payload has no hash that stands for it alone, null when it has one: a number that JSON does not carry exactly
 * reads as another one elsewhere, and a lone surrogate has no bytes (docs/evidence.md, "Proof hash").
 */
export const payloadFault = (payload: DeliveryPayload): string | null => {
  const fault = canonicalFault(payload);
  return fault === undefined ? null : `${fault.pointer} ${fault.detail}`.trimStart();
};

/**
 * Judges what was delivered: it can be read in one way only, its hash is the attested one, it names this task where it
 * names one, it fits the template, and `validate` has nothing against it.
 */
export const judgeDelivery = async (
  payload: DeliveryPayload,
  attested: { readonly proofHash: string | null; readonly taskHash: string },
  template: string | null,
  validate: Validate | null,
): Promise<DeliveryJudgement> => {
  const reasons: Array<string> = [];
  const fault = payloadFault(payload);
  if (fault !== null) reasons.push(fault);
  else if (attested.proofHash === null) reasons.push("nothing was attested");
  else if (proofHash(payload) !== attested.proofHash)
    reasons.push("the attestor signed the hash of another payload");
  const named = payload["task_hash"];
  if (named !== undefined && named !== attested.taskHash) reasons.push("it is for another task");
  if (template !== null) reasons.push(...templateReasons(payload, template));
  const objection = validate === null ? null : await validate(payload);
  if (objection !== null) reasons.push(objection);
  return { accepted: reasons.length === 0, reasons };
};
