import {
  type Field,
  membersOf,
  recordName,
  type Reference,
  type Schema,
} from "../../openapi/reference.ts";
import { escapeHtml } from "../shell/escape.ts";
import { markedHtml } from "../static-page.ts";

const code = (value: unknown): string =>
  `<code>${escapeHtml(typeof value === "string" ? value : JSON.stringify(value))}</code>`;

/** A schema in few words as HTML; records are linked. */
export const typeHtml = (schema: Schema): string => {
  const name = recordName(schema);
  if (name !== undefined) return `<a href="#schema-${name}">${name}</a>`;
  if (schema.enum !== undefined) return schema.enum.map(code).join(" or ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeHtml).join(" or ");
  if (schema.type === "array") return `array of ${typeHtml(schema.items ?? {})}`;
  const [values] = Object.values(schema.patternProperties ?? {});
  if (values !== undefined) return `object of ${typeHtml(values)}`;
  return schema.type ?? "any";
};

/** `1 to 100`, `at least 1`, `at most 100`, or nothing. */
const range = (from: number | undefined, to: number | undefined, unit: string): string => {
  if (from === undefined && to === undefined) return "";
  if (from === undefined) return `at most ${to}${unit}`;
  if (to === undefined) return `at least ${from}${unit}`;
  return from === to ? `${from}${unit}` : `${from} to ${to}${unit}`;
};

/** A schema's constraints on its values, as HTML. Empty when it has none. */
const constraints = (schema: Schema): string =>
  [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, " characters"),
    range(undefined, schema.maxItems, " items"),
    schema.contentEncoding ?? schema.format ?? "",
    schema.pattern === undefined ? "" : `pattern ${code(schema.pattern)}`,
    schema.default === undefined ? "" : `default ${code(schema.default)}`,
    ...(schema.examples ?? []).map((example) => `such as ${code(example)}`),
  ]
    .filter((part) => part !== "")
    .join(", ");

/** The schema whose constraints are shown: that of a list's items, or of a value that may be null. */
const constrained = (schema: Schema): Schema => {
  const inner = schema.items ?? schema.anyOf?.find(({ type }) => type !== "null");
  return inner === undefined ? schema : { ...inner, ...schema };
};

/** Fields as an HTML list: the name, type, `word`, meaning and constraints of each. */
const fieldsHtml = (fields: ReadonlyArray<Field>, word: (field: Field) => string): string => {
  const rows = fields.map((field) => {
    const beside = word(field);
    const limits = constraints(constrained(field.schema));
    return `<div><dt><code>${field.name}</code> <span>${typeHtml(field.schema)}${beside === "" ? "" : `, ${beside}`}</span></dt><dd>${markedHtml(field.meaning ?? "")}${limits === "" ? "" : ` <small>${limits}</small>`}</dd></div>`;
  });
  return `<dl>${rows.join("\n")}</dl>`;
};

/** Members of a record. Optional ones are marked. */
const membersHtml = (record: Schema, records: Reference["records"]): string =>
  fieldsHtml(membersOf(record, records), ({ isRequired }) => (isRequired ? "" : "optional"));

/** Inputs of a request, each with its place. Required ones are marked. */
export const inputsHtml = (fields: ReadonlyArray<Field>): string =>
  fieldsHtml(fields, ({ place, isRequired }) =>
    [place === "member" ? [] : [place], isRequired ? ["<b>required</b>"] : []].flat().join(", "),
  );

/** A named schema with its members; for an enum, with its values. */
export const recordHtml = (name: string, schema: Schema, records: Reference["records"]): string =>
  `<article id="schema-${name}">
<h3><a href="#schema-${name}">${name}</a></h3>
<p>${markedHtml(schema.description ?? "")}</p>
${schema.enum === undefined ? membersHtml(schema, records) : `<p>${schema.enum.map(code).join(" ")}</p>`}
</article>`;
