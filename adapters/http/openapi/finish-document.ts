import { REQUEST_BODY } from "./operation-object.ts";

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

/** The members of an operation object, in the document's order. */
const MEMBERS = [
  "operationId",
  "tags",
  "summary",
  "description",
  "security",
  "parameters",
  "requestBody",
  "responses",
];

/** An operation as its route tells it: of a body the plugin knows no more than the schema. */
const operationOf = (collected: JsonObject): JsonObject => {
  const members: JsonObject = { ...collected, requestBody: collected[REQUEST_BODY] ?? null };
  return Object.fromEntries(
    MEMBERS.flatMap((name) => {
      const value = members[name] ?? null;
      const isLeftOut = value === null || (name === "parameters" && JSON.stringify(value) === "[]");
      return isLeftOut ? [] : [[name, value]];
    }),
  );
};

const mapValues = (value: Json | undefined, change: (part: JsonObject) => JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([key, part]) => [
      key,
      isObject(part) ? change(part) : part,
    ]),
  );

/** The members that every OpenAPI document has. */
export type OpenApiDocument = {
  readonly openapi: "3.1.0";
  readonly info: JsonObject;
  readonly paths: JsonObject;
};

/**
 * Finishes what the plugin collected: paths in this order, operations as their routes tell them, named records moved
 * into `components.schemas` and referred to, unions of constants as enums, OpenAPI 3.1.0 on top. @throws Error where
 * two different records have one name, or a path was not collected.
 */
export const finishDocument = (collected: unknown, paths: Iterable<string>): OpenApiDocument => {
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
  const document = finish(collected as Json);
  if (!isObject(document) || !isObject(document["info"]))
    throw new Error("the plugin collected no document");
  const byPath = mapValues(document["paths"], (path) => mapValues(path, operationOf));
  const ordered = Array.from(new Set(paths), (path) => {
    const operations = byPath[path];
    if (operations === undefined) throw new Error(`the plugin collected nothing of ${path}`);
    return [path, operations] as const;
  });
  const byName = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  const components = isObject(document["components"]) ? document["components"] : {};
  const finished = {
    ...document,
    info: document["info"],
    paths: Object.fromEntries(ordered),
    openapi: "3.1.0" as const,
    components: { ...components, schemas: Object.fromEntries(byName) },
  };
  return finished;
};
