import { JUDGED } from "./values.ts";

type Json = string | number | boolean | null | Array<Json> | { [key: string]: Json };
type JsonObject = { [key: string]: Json };

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A union of text literals, which TypeBox writes as `anyOf` of constants, as an `enum`. */
const asEnum = (schema: JsonObject): JsonObject => {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const constants = anyOf.map((part) => (isObject(part) ? part["const"] : undefined));
  return constants.every((constant) => typeof constant === "string")
    ? { ...rest, type: "string", enum: constants }
    : schema;
};

/** A schema that the document names: a text that is one of a list, or an object with members. */
const isNamed = (schema: JsonObject): boolean =>
  Array.isArray(schema["enum"]) ||
  (schema["type"] === "object" &&
    isObject(schema["properties"]) &&
    Object.keys(schema["properties"]).length > 0);

/** `next_cursor` as `NextCursor`. */
const pascal = (name: string): string =>
  name.replace(/(?:^|_)([a-z0-9])/g, (_, first: string) => first.toUpperCase());

/** The position of a schema in the document. */
type Place = {
  /** Whether it belongs to a request. Request objects are closed; objects in answers may gain members. */
  readonly isSent: boolean;
  /** The name of a schema here that has no title; null outside of named schemas. */
  readonly name: string | null;
};

/** A schema with the constraints that only the document states, and without `additionalProperties: false` in answers. */
const stated = (schema: JsonObject, { isSent }: Place): JsonObject => {
  const { [JUDGED]: constraints, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    // Some generators map a constant of type `number` to a floating-point type.
    ...(Number.isInteger(rest["const"]) ? { type: "integer" } : {}),
    ...(additionalProperties === undefined || (additionalProperties === false && !isSent)
      ? {}
      : { additionalProperties }),
    ...(isObject(constraints) ? constraints : {}),
  };
};

/** These keys hold values, not schemas. Their content is left unchanged. */
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

/** An operation as its route tells it. */
const operationOf = (collected: JsonObject): JsonObject =>
  Object.fromEntries(
    MEMBERS.flatMap((name) => {
      const value = collected[name] ?? null;
      return value === null ? [] : [[name, value]];
    }),
  );

const mapValues = (
  value: Json | undefined,
  change: (part: JsonObject, key: string) => JsonObject,
): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(value) ? value : {}).map(([key, part]) => [
      key,
      isObject(part) ? change(part, key) : part,
    ]),
  );

/** The members that every OpenAPI document has. */
export type OpenApiDocument = {
  readonly openapi: "3.1.0";
  readonly info: JsonObject;
  readonly paths: JsonObject;
};

/**
 * Finishes what the plugin collected: paths in this order, operations as their routes declare them, objects and enums moved
 * into `components.schemas` under their names and referred to, unions of constants as enums, OpenAPI 3.1.0 on top. @throws
 * Error when two different schemas have one name, or a path was not collected.
 */
export const finishDocument = (collected: unknown, paths: Iterable<string>): OpenApiDocument => {
  const schemas: JsonObject = {};
  const texts = new Map<string, string>();
  const named = (schema: JsonObject, { name: placeName }: Place): JsonObject => {
    const { title } = schema;
    const name = typeof title === "string" ? title : placeName;
    if (name === null || !isNamed(schema)) return schema;
    const whole: JsonObject = { title: name, ...schema };
    const text = JSON.stringify(whole);
    if ((texts.get(name) ?? text) !== text) throw new Error(`two schemas are named ${name}`);
    texts.set(name, text);
    schemas[name] = whole;
    return { $ref: `#/components/schemas/${name}` };
  };
  const finish = (value: Json, place: Place): Json => {
    if (Array.isArray(value)) return value.map((part) => finish(part, place));
    if (!isObject(value)) return value;
    const { title } = value;
    const within: Place = { ...place, name: typeof title === "string" ? title : place.name };
    const members = (properties: Json): Json =>
      mapValues(properties, (member, key) => {
        const name = within.name === null ? null : `${within.name}${pascal(key)}`;
        return finish(member, { ...within, name }) as JsonObject;
      });
    const parts = Object.entries(value).map(([key, part]) => {
      if (key === "properties") return [key, members(part)] as const;
      if (key === "requestBody") return [key, finish(part, { ...within, isSent: true })] as const;
      return [key, VALUES.has(key) ? part : finish(part, within)] as const;
    });
    return named(asEnum(stated(Object.fromEntries(parts), place)), within);
  };
  const document = finish(collected as Json, { isSent: false, name: null });
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
