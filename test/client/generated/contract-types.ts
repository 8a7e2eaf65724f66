import { compile, type JSONSchema } from "json-schema-to-typescript";
import { makeService } from "../../adapters/http/support/service.ts";

const HEADER = `// Made from the OpenAPI document of the service by \`bun run test:more generate-client\`. Do not edit.\n\n`;

type Schema = {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
};
type Content = { readonly "application/json"?: { readonly schema: Schema } };
type Operation = {
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: Schema;
  }>;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

const recordTypes = async ({ components }: Document): Promise<string> => {
  const text = JSON.stringify(components.schemas).replaceAll(
    "#/components/schemas/",
    "#/definitions/",
  );
  const definitions = JSON.parse(text) as Record<string, JSONSchema>;
  const names = Object.keys(definitions);
  const schema: JSONSchema = {
    description: "Every record of the contract by its name.",
    type: "object",
    additionalProperties: false,
    definitions,
    properties: Object.fromEntries(names.map((name) => [name, { $ref: `#/definitions/${name}` }])),
    required: names,
  };
  const types = await compile(schema, "Contract", {
    additionalProperties: false,
    bannerComment: "",
    format: false,
  });
  // The compiler needs a root; nobody else does.
  const root = /\/\*\*\n \* Every record of the contract by its name\.\n \*\/\nexport interface Contract \{[^}]*\}\n/;
  return types.replace(root, "").replaceAll(/\/\*\*\n \* (.*)\n \*\/\n/g, "/** $1 */\n");
};

const typeOf = ({ $ref: name, type, const: value }: Schema): string => {
  if (name !== undefined) return name.slice(name.lastIndexOf("/") + 1);
  if (value !== undefined) return JSON.stringify(value);
  return type === "integer" ? "number" : String(type);
};

const operationType = ({ parameters = [], requestBody, responses }: Operation): string => {
  const given = (place: string): string => {
    const members = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required, schema }) => `${name}${required ? "" : "?"}: ${typeOf(schema)}`);
    return members.length === 0 ? "object" : `{ ${members.join("; ")} }`;
  };
  const jsonIn = (content: Content = {}): string => {
    const json = content["application/json"];
    return json?.schema.$ref === undefined ? "object" : typeOf(json.schema);
  };
  const usual = Object.keys(responses).find((status) => status.startsWith("2")) ?? "";
  return `{ path: ${given("path")}; query: ${given("query")}; body: ${jsonIn(requestBody?.content)}; answer: ${jsonIn(responses[usual]?.content)} }`;
};

const operationTypes = ({ paths }: Document): string => {
  const lines = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(
      ([method, operation]) =>
        `  "${method.toUpperCase()} ${path}": ${operationType(operation)};\n`,
    ),
  );
  return `/** By method and path: what a request of the operation carries, and the JSON of its usual answer; \`object\` for none. */
export interface HttpOperations {
${lines.join("")}}
`;
};

/** The TypeScript types of every record and every operation of the served OpenAPI document. */
export const contractTypes = async (): Promise<string> => {
  const service = await makeService();
  try {
    const response = await service.app.handle(new Request("http://localhost/openapi.json"));
    const document = (await response.json()) as Document;
    return HEADER + (await recordTypes(document)) + operationTypes(document);
  } finally {
    await service.runtime.dispose();
  }
};

// Run by itself, it writes client/generated anew.
if (import.meta.main)
  await Bun.write(
    new URL("../../../client/generated/contract.ts", import.meta.url),
    await contractTypes(),
  );
