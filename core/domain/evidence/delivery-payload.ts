import type { Json } from "../encoding/canonical-json.ts";
import { echoed } from "../encoding/foreign-text.ts";
import type { EvidenceAmounts } from "./evidence-check.ts";
import { type ProofField, type ProofTemplate, TEXT_PATTERNS } from "./proof-template.ts";

const amountText = (units: string, usdc: string | null): string =>
  usdc === null ? units : `${units} (${usdc} USDC)`;

/** What a verdict says was paid, as a sentence for people. Base units come first, because only they are signed. */
export const amountsText = (amounts: EvidenceAmounts): string => {
  const { mint, mint_supported: isListed, symbol } = amounts;
  const name = isListed ? `listed as ${symbol}` : "not listed";
  const escrowed = amountText(amounts.amount_stroops, amounts.amount_usdc);
  const released = amountText(amounts.released_stroops, amounts.released_usdc);
  const refunded = amountText(amounts.refunded_stroops, amounts.refunded_usdc);
  return `Base units of the mint ${mint}, ${name}: ${escrowed} escrowed, ${released} to the merchant, ${refunded} back to the agent.`;
};

/** How one member of a payload compares with a template. */
export type FieldResult = {
  readonly name: string;
  readonly outcome: "ok" | "absent" | "missing" | "invalid" | "unexpected";
  /** What the template asks for; null when the field is valid, or optional and absent. */
  readonly expected: string | null;
  /** The JSON type of the payload's value, null when it is absent. Never the value itself. */
  readonly found: JsonType | null;
};

/** The JSON Schema types. `integer` is a whole number. */
export const JSON_TYPES = [
  "null",
  "boolean",
  "integer",
  "number",
  "string",
  "array",
  "object",
] as const;
/** One of the types in `JSON_TYPES`. */
type JsonType = (typeof JSON_TYPES)[number];

const typeOf = (value: Json): JsonType => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value as "boolean" | "string" | "object";
};

const isInteger = (value: Json, min: number, max: number): boolean =>
  typeof value === "number" && Number.isInteger(value) && value >= min && value <= max;

/** Length in code points, as JSON Schema counts it. */
const lengthOf = (text: string): number => Array.from(text).length;

const matches = (kind: keyof typeof TEXT_PATTERNS, maxLength = 2048) => {
  const pattern = new RegExp(TEXT_PATTERNS[kind], "u");
  return (value: Json): boolean =>
    typeof value === "string" && pattern.test(value) && lengthOf(value) <= maxLength;
};

/** What a field must hold, in words, and a check of a value. */
const rule = (
  field: ProofField,
): { readonly expected: string; readonly holds: (value: Json) => boolean } => {
  switch (field.type) {
    case "constant":
      return { expected: `the text ${field.value ?? ""}`, holds: (value) => value === field.value };
    case "hash":
      return { expected: "64 lower-case hex digits", holds: matches("hash") };
    case "url":
      return {
        expected: "an http or https URL of at most 2048 characters",
        holds: matches("url"),
      };
    case "http_status":
      return {
        expected: "an integer from 100 to 599",
        holds: (value) => isInteger(value, 100, 599),
      };
    case "count":
      return {
        expected: "an integer from 0 to 9007199254740991",
        holds: (value) => isInteger(value, 0, Number.MAX_SAFE_INTEGER),
      };
    case "time":
      return { expected: "a time as YYYY-MM-DDThh:mm:ssZ", holds: matches("time") };
    case "text":
      return {
        expected: "a text of 1 to 1024 characters",
        holds: (value) => typeof value === "string" && value !== "" && lengthOf(value) <= 1024,
      };
  }
};

/** The result of every field of a template and every member of a payload. */
export const compareWithTemplate = (
  payload: { readonly [name: string]: Json },
  template: ProofTemplate,
): ReadonlyArray<FieldResult> => {
  const declared = template.fields.map((field): FieldResult => {
    const { name, required } = field;
    const { expected, holds } = rule(field);
    if (!Object.hasOwn(payload, name))
      return required
        ? { name, outcome: "missing", expected, found: null }
        : { name, outcome: "absent", expected: null, found: null };
    const value = payload[name] ?? null;
    return holds(value)
      ? { name, outcome: "ok", expected: null, found: typeOf(value) }
      : { name, outcome: "invalid", expected, found: typeOf(value) };
  });
  const names = new Set(template.fields.map((field) => field.name));
  const strangers = Object.entries(payload)
    .filter(([name]) => !names.has(name))
    .map(([name, value]): FieldResult => ({
      name: echoed(name),
      outcome: "unexpected",
      expected: "no such member",
      found: typeOf(value),
    }));
  return [...declared, ...strangers];
};
