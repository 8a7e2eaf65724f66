import { Ajv2020, type ErrorObject, type ValidateFunction } from "ajv/dist/2020.js";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { parseUnambiguousJson } from "../../../core/domain/encoding/strict-json.ts";
import { PROOF_TEMPLATES } from "../../../core/domain/evidence/proof-template.ts";
import { SettlementError } from "../../settlement-error.ts";
import schema from "./rules.schema.json" with { type: "json" };

/** Where a payload's member comes from: a part of the exchange, or the rules themselves. */
type FieldSource =
  | {
      readonly from:
        | "url"
        | "status"
        | "content_sha256"
        | "content_bytes"
        | "delivered_at"
        | "network";
    }
  | { readonly value: string | number | boolean | null };

/** When an exchange is a delivery, and what is attested then. `rules.schema.json` says it member by member. */
export type Rule = {
  readonly name: string;
  readonly template: string;
  readonly merchant: string;
  readonly method: string;
  readonly url: string;
  readonly status: ReadonlyArray<number>;
  readonly latency_ms?: number;
  readonly content_sha256?: string;
  readonly json_schema?: object | boolean;
  readonly fields: { readonly [name: string]: FieldSource };
};

/** The rules of an attestor, with a check of the body for each rule that has a schema. */
export type Rules = {
  /** Decimal, in each mint. */
  readonly ceiling: { readonly per_escrow: string; readonly per_day: string };
  readonly rules: ReadonlyArray<
    Rule & {
      /** What is wrong with a body's JSON, null for nothing; null itself when the rule has no schema. */
      readonly bodyFault: ((body: Json) => string | null) | null;
    }
  >;
};

/** Characters of an unknown member's name that a message repeats: whoever records an exchange may choose the name. */
const MOST_NAME = 64;

/** The first fault that a validation found, in words. */
export const faultIn = (errors: ReadonlyArray<ErrorObject> | null | undefined): string => {
  const [first] = errors ?? [];
  if (first === undefined) return "it does not fit";
  const { instancePath, message = "does not fit", params } = first;
  const unknown: unknown = params["additionalProperty"];
  const named = typeof unknown === "string" ? `: ${unknown.slice(0, MOST_NAME)}` : "";
  return `${instancePath || "the whole"} ${message}${named}`;
};

const refuse = (detail: string): never => {
  throw new SettlementError(
    "invalid_rules",
    detail,
    "Correct the rules; client/merchant/attestor/rules.schema.json describes them.",
  );
};

const ajv = (): Ajv2020 => new Ajv2020({ strict: true, allowUnionTypes: true });

const bodyFaultOf = ({ name, json_schema: wanted }: Rule): Rules["rules"][number]["bodyFault"] => {
  if (wanted === undefined) return null;
  let fits: ValidateFunction;
  try {
    fits = ajv().compile(wanted);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split("\n")[0] : "unknown";
    return refuse(`The json_schema of rule ${name} cannot be used: ${reason}.`);
  }
  return (body) => (fits(body) ? null : faultIn(fits.errors));
};

/** The rules in a text. @throws SettlementError `invalid_rules` that says what is wrong with it. */
export const parseRules = (text: string): Rules => {
  const parsed = parseUnambiguousJson(text);
  if ("fault" in parsed) return refuse(`The rules are no JSON: ${parsed.fault}.`);
  const fits = ajv().compile<{
    readonly spending_ceiling: Rules["ceiling"];
    readonly rules: ReadonlyArray<Rule>;
  }>(schema);
  const { value } = parsed;
  if (!fits(value)) return refuse(`The rules are malformed: ${faultIn(fits.errors)}.`);
  for (const { name, template } of value.rules)
    if (!PROOF_TEMPLATES.some(({ id }) => id === template))
      refuse(`Rule ${name} names the template ${template}, which does not exist.`);
  return {
    ceiling: value.spending_ceiling,
    rules: value.rules.map((rule) => Object.assign({ bodyFault: bodyFaultOf(rule) }, rule)),
  };
};
