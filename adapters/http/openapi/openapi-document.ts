import { Elysia } from "elysia";
import { type JsonText, jsonText } from "../server/declared-answer.ts";
import { type Endpoint, routerPath } from "../server/endpoint.ts";
import { WebhookEvent, webhooksWith } from "../index/webhook-body.ts";
import { operationObject, sharedComponents } from "./operation-object.ts";
import { JUDGED } from "./values.ts";

/** What the service is, and the conventions of its values, in Markdown. */
const SERVICE_DESCRIPTION = `Records what a merchant's attestor asserted about a delivery and what the ledger did with an agent's payment:
escrow custody on Solana, Ed25519 attestation, automatic refund, and evidence packets that anyone can verify offline.

Amounts are decimal strings in base units (\`*_stroops\`). Beside them \`*_usdc\` is a rendering with six decimals;
of escrows and events it is null unless this service lists the mint as USDC.
Times are RFC 3339 in UTC, addresses base58, hashes lower-case hex. Errors are RFC 9457 problem documents;
their \`type\` is a path of this service that explains the problem and its cure. No operation asks for a
credential: authority over an escrow is the signature inside a transaction.`;

/** The groups of operations, in the order of the documentation. */
const SERVICE_TAGS = [
  { name: "Escrows", description: "Prepare and read escrows." },
  {
    name: "Evidence",
    description: "Packets that show what became of a payment, and what to trust.",
  },
  { name: "Merchants", description: "Registered merchants and their attestor keys." },
  { name: "Proof templates", description: "Shapes of delivery payloads." },
  { name: "Settlement log", description: "The ledger's events in a Merkle tree (docs/log.md)." },
  { name: "Wallets", description: "Solana Actions and Solana Pay: links that any wallet opens." },
  { name: "Index", description: "The persistent index of escrows and events." },
  { name: "Relay", description: "Broadcast of transactions that are already signed." },
  {
    name: "x402",
    description:
      "The facilitator of x402's scheme `auth-capture` (docs/x402.md). Answers have x402's own shapes.",
  },
  { name: "Log", description: "The settlement log and its witnesses." },
  { name: "Service", description: "The service itself." },
] as const;

/** The service's name, on every surface. */
export const SERVICE_NAME = "Settlement Evidence API";

/** The version of the HTTP contract, as `/v1` and the OpenAPI document state it. */
export const CONTRACT_VERSION = "1.0.0-devnet";

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

const ANSWERED: Place = { isSent: false, name: null };

/**
 * A schema with the constraints that only the document states, and without `additionalProperties: false` in answers.
 */
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
 * Finishes what the plugin collected: paths in this order, operations as their routes declare them, objects and enums
 * moved into `components.schemas` under their names and referred to, unions of constants as enums, OpenAPI 3.1.0 on
 * top. @throws Error when two different schemas have one name, or a path was not collected.
 */
const finishDocument = (collected: unknown, paths: Iterable<string>): OpenApiDocument => {
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
  const document = finish(collected as Json, ANSWERED);
  if (!isObject(document) || !isObject(document["info"]))
    throw new Error("the plugin collected no document");
  const byPath = mapValues(document["paths"], (path) => mapValues(path, operationOf));
  const ordered = Array.from(new Set(paths), (path) => {
    const operations = byPath[path];
    if (operations === undefined) throw new Error(`the plugin collected nothing of ${path}`);
    return [path, operations] as const;
  });
  // A receiver must not refuse members that come later, so that the body is stated as an answer is.
  const webhookBody = finish(JSON.parse(JSON.stringify(WebhookEvent)) as Json, ANSWERED);
  const byName = Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  const components = isObject(document["components"]) ? document["components"] : {};
  const finished = {
    ...document,
    info: document["info"],
    paths: Object.fromEntries(ordered),
    webhooks: webhooksWith(webhookBody),
    openapi: "3.1.0" as const,
    components: { ...components, schemas: Object.fromEntries(byName) },
  };
  return finished;
};

const SPEC_PATH = "/openapi.json";

/**
 * The plugin with the routes of these operations. Its package takes 70 ms to load, and most services are never asked.
 */
const collector = async (operations: ReadonlyArray<Endpoint>) => {
  const { swagger } = await import("@elysiajs/swagger");
  const plugin = swagger({
    path: "/docs",
    specPath: SPEC_PATH,
    excludeStaticFile: false,
    documentation: {
      info: {
        title: SERVICE_NAME,
        version: CONTRACT_VERSION,
        description: SERVICE_DESCRIPTION,
        license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
      },
      servers: [{ url: "/", description: "This service." }],
      tags: [...SERVICE_TAGS],
      externalDocs: { description: "The reference, as a page.", url: "/docs" },
      components: sharedComponents(operations),
    },
  });
  const app = new Elysia({ strictPath: true }).use(plugin);
  for (const operation of operations)
    app.route(operation.method, routerPath(operation.path), () => null, {
      parse: "none",
      detail: operationObject(operation),
    });
  return plugin;
};

/**
 * The OpenAPI 3.1.0 document of these operations as JSON text. Nothing of it is loaded or computed before the call:
 * neither the plugin that collects the routes nor an example.
 */
export const openApiDocument = async (
  operations: ReadonlyArray<Endpoint>,
): Promise<JsonText<OpenApiDocument>> => {
  const plugin = await collector(operations);
  const collected = await plugin.handle(new Request(`http://localhost${SPEC_PATH}`));
  const paths = operations.map(({ path }) => path);
  return jsonText(finishDocument(await collected.json(), paths));
};
