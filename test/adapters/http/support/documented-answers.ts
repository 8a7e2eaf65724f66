import { documentSchemas } from "./document-schemas.ts";

type Json = Record<string, unknown>;
type Headers_ = Readonly<Record<string, unknown>>;
type ResponseObject = {
  readonly headers?: Headers_;
  readonly content?: Readonly<Record<string, { readonly schema: Json; readonly examples?: Json }>>;
};
type Operation = {
  readonly responses: Readonly<Record<string, ResponseObject | { $ref: string }>>;
};

/** The parts of an OpenAPI document that promise something about answers. */
export type Contract = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly schemas: Readonly<Record<string, Json>>;
  };
};

/** Headers that the transport or Fetch adds, or that security needs on every answer. */
const UNDOCUMENTED_HEADERS = new Set([
  "content-type",
  "content-encoding",
  "content-length",
  "date",
  "cache-control",
  "content-security-policy",
  "cross-origin-resource-policy",
  "referrer-policy",
  "x-content-type-options",
  "access-control-allow-origin",
  "access-control-expose-headers",
  "connection",
  "vary",
]);

const patternOf = (template: string): RegExp =>
  new RegExp(`^${template.replaceAll(".", "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`);

/**
 * Compares answers with what the OpenAPI document promises for the operation, status and media type.
 * A check throws with every difference.
 */
export const documentedAnswers = (document: Contract) => {
  const faultOf = documentSchemas(document.components);
  const templates = Object.keys(document.paths)
    .sort((a, b) => a.split("{").length - b.split("{").length)
    .map((template) => ({ template, pattern: patternOf(template) }));

  const responseOf = (operation: Operation, status: number): ResponseObject | undefined => {
    const response = operation.responses[String(status)];
    if (response === undefined || !("$ref" in response)) return response;
    return document.components.responses[response.$ref.split("/").at(-1) ?? ""];
  };

  /** Throws unless the document promises this answer to this request. */
  return async (request: Request, response: Response): Promise<void> => {
    const path = new URL(request.url).pathname;
    const template = templates.find(({ pattern }) => pattern.test(path))?.template;
    const methods = template === undefined ? undefined : document.paths[template];
    const method = (request.method === "HEAD" ? "GET" : request.method).toLowerCase();
    const where = `${request.method} ${path} answered ${response.status}`;
    const mediaType = response.headers.get("content-type")?.split(";")[0] ?? "";
    if (response.headers.get("x-request-id") === null) throw new Error(`${where}: no x-request-id`);
    if (methods === undefined) {
      if (response.status !== 404) throw new Error(`${where} at a path that is not documented`);
      return;
    }
    const operation = methods[method] ?? Object.values(methods)[0];
    if (request.method === "OPTIONS" && response.status === 204) return;
    if (methods[method] === undefined && response.status !== 405)
      throw new Error(`${where}, by a method that is not documented`);
    const promised = operation === undefined ? undefined : responseOf(operation, response.status);
    if (promised === undefined) throw new Error(`${where}, which is not documented`);
    for (const name of response.headers.keys())
      if (!UNDOCUMENTED_HEADERS.has(name) && !(name in (promised.headers ?? {})))
        throw new Error(`${where} with an undocumented header ${name}`);
    // The body of a stream is not read, because it does not end.
    if (mediaType === "text/event-stream" && request.method === "GET") {
      if (promised.content?.[mediaType] === undefined)
        throw new Error(`${where} as undocumented ${mediaType}`);
      return;
    }
    const body = await response.clone().text();
    if (request.method === "HEAD") {
      if (body !== "") throw new Error(`${where}: HEAD with a body`);
      return;
    }
    if (promised.content === undefined) {
      if (body !== "") throw new Error(`${where} with an undocumented body`);
      return;
    }
    const schema = promised.content[mediaType]?.schema;
    if (schema === undefined) throw new Error(`${where} as undocumented ${mediaType}`);
    const value: unknown = mediaType.endsWith("json") ? JSON.parse(body) : body;
    const fault = faultOf(schema, value);
    if (fault !== "") throw new Error(`${where}: ${fault}\n${body.slice(0, 2000)}`);
    if (mediaType !== "application/problem+json") return;
    // All problems share one schema. The names of the examples say which problems an operation has.
    const { code, status } = value as { readonly code: string; readonly status: number };
    const codes = Object.keys(promised.content[mediaType]?.examples ?? {});
    if (!codes.includes(code)) throw new Error(`${where} with the undocumented problem ${code}`);
    if (status !== response.status) throw new Error(`${where} with a problem of ${status}`);
  };
};
