import { canonicalJsonBytes, type Json } from "../encoding/canonical-json.ts";
import { type Hash32, hash32FromBytes } from "../hash32.ts";
import { sha256 } from "../sha256.ts";
import apiDelivered from "./proof-templates/api-delivered-v1.json" with { type: "json" };
import datasetDelivered from "./proof-templates/dataset-delivered-v1.json" with { type: "json" };
import goodsDelivered from "./proof-templates/goods-delivered-v1.json" with { type: "json" };
import ticketIssued from "./proof-templates/ticket-issued-v1.json" with { type: "json" };
import travelBooking from "./proof-templates/travel-booking-confirmed-v1.json" with { type: "json" };

/** The type of a delivery payload's field. */
type ProofFieldType = "constant" | "hash" | "url" | "http_status" | "count" | "time" | "text";

/** One field of a delivery payload. */
export type ProofField = {
  readonly name: string;
  readonly type: ProofFieldType;
  readonly required: boolean;
  readonly description: string;
  /** The value that a `constant` field must equal. */
  readonly value?: string;
};

/** A reusable shape for a delivery payload. An attestor signs the payload's hash as `proof_hash`. */
export type ProofTemplate = {
  readonly id: string;
  /** `api-data` for APIs and data, otherwise the category. */
  readonly wedge: string;
  readonly category: "api" | "travel" | "tickets" | "commerce";
  readonly title: string;
  readonly description: string;
  readonly fields: ReadonlyArray<ProofField>;
  readonly example: { readonly [name: string]: Json };
};

/** SHA-256 of the RFC 8785 bytes of a delivery payload. See docs/evidence.md, "Proof hash". */
export const proofHash = (payload: Json): Hash32 =>
  hash32FromBytes(sha256(canonicalJsonBytes(payload)));

/** ECMA-262 patterns for the kinds of text. The pattern of `time` does not check the length of a month. */
export const TEXT_PATTERNS = {
  hash: "^[0-9a-f]{64}$",
  url: "^https?://[^\\s]+$",
  time: "^\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\dZ$",
} as const;

const fieldSchema = (field: ProofField): { readonly [key: string]: Json } => {
  switch (field.type) {
    case "constant":
      return { const: field.value ?? null };
    case "hash":
      return { type: "string", pattern: TEXT_PATTERNS.hash };
    case "url":
      return { type: "string", pattern: TEXT_PATTERNS.url, maxLength: 2048 };
    case "http_status":
      return { type: "integer", minimum: 100, maximum: 599 };
    case "count":
      return { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
    case "time":
      return { type: "string", pattern: TEXT_PATTERNS.time };
    case "text":
      return { type: "string", minLength: 1, maxLength: 1024 };
  }
};

/** The JSON Schema (2020-12) of a template's payloads. Other members are refused. */
export const proofTemplateSchema = (template: ProofTemplate): { readonly [key: string]: Json } => ({
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: template.title,
  type: "object",
  properties: Object.fromEntries(
    template.fields.map((field) => [
      field.name,
      { ...fieldSchema(field), description: field.description },
    ]),
  ),
  required: template.fields.filter((field) => field.required).map((field) => field.name),
  additionalProperties: false,
});

/** Every proof template, API and data first. A new one is a file beside these and a line here. */
export const PROOF_TEMPLATES = [
  apiDelivered,
  datasetDelivered,
  travelBooking,
  ticketIssued,
  goodsDelivered,
] as ReadonlyArray<ProofTemplate>;
