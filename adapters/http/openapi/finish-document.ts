type Json = string | number | boolean | null | Array<Json> | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A union of text literals, which TypeBox writes as `anyOf` of constants, as the `enum` it is. */
const asEnum = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const constants = anyOf.map((part) => (isObject(part) ? part["const"] : undefined));
  return constants.every((constant) => typeof constant === "string")
    ? { ...rest, type: "string", enum: constants }
    : schema;
};

/** A named record is a schema with a title that TypeBox closed. */
const nameOf = (schema: JsonObject): string | undefined =>
  schema["type"] === "object" &&
  typeof schema["title"] === "string" &&
  isObject(schema["properties"])
    ? schema["title"]
    : undefined;

/** Under these keys stand values, not schemas: nothing in them is to be rewritten. */
const VALUES = new Set(["example", "examples", "value", "default", "const", "enum"]);

/**
 * Finishes what the plugin collected: plain JSON, named records moved into `components.schemas` and
 * referred to, unions of constants as enums, OpenAPI 3.1.0 on top. @throws Error where two different
 * records have one name.
 */
export const finishDocument = (collected: unknown): JsonObject => {
  const schemas: JsonObject = {};
  const texts = new Map<string, string>();
  const finish = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(finish);
    if (!isObject(value)) return value;
    const finished = asEnum(
      Object.fromEntries(
        Object.entries(value).map(([key, part]) => [key, VALUES.has(key) ? part : finish(part)]),
      ),
    );
    const name = nameOf(finished);
    if (name === undefined) return finished;
    const text = JSON.stringify(finished);
    if ((texts.get(name) ?? text) !== text) throw new Error(`two schemas are named ${name}`);
    texts.set(name, text);
    schemas[name] = finished;
    return { $ref: `#/components/schemas/${name}` };
  };
  // Through JSON: TypeBox's symbols and absent members fall away.
  const document = finish(JSON.parse(JSON.stringify(collected)) as Json);
  if (!isObject(document)) throw new Error("the plugin collected no document");
  const byName = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  const components = isObject(document["components"]) ? document["components"] : {};
  return {
    ...document,
    openapi: "3.1.0",
    components: { ...components, schemas: Object.fromEntries(byName) },
  };
};
