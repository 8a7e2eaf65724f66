/** A JSON schema, or any other part of an OpenAPI document. */
export type Schema = { readonly [member: string]: unknown };

/** What one operation takes and answers. */
export type OperationOutline = {
  readonly id: string;
  readonly parameters: Readonly<
    Record<string, { readonly required: boolean; readonly schema: Schema }>
  >;
  readonly body: { readonly required: boolean; readonly content: Content } | null;
  /** By statuses that are answered alike, such as `400,404`. */
  readonly answers: Readonly<
    Record<string, { readonly headers: ReadonlyArray<string>; readonly content: Content }>
  >;
};

type Content = Readonly<Record<string, Schema>>;

/** The HTTP contract without its words: operations by method and path, and the schemas that they lead to. */
export type HttpOutline = {
  readonly operations: Readonly<Record<string, OperationOutline>>;
  readonly schemas: Readonly<Record<string, Schema>>;
};

/** Members of a schema that tell people something. */
const WORDS = ["description", "title", "example", "examples", "default"];
/** What a request must keep to. Of an answer it is a description too. */
const LIMITS =
  "pattern format contentEncoding additionalProperties minLength maxLength minimum maximum minItems maxItems".split(
    " ",
  );

/** Where a document has its schemas. An outline names one by `#` and its name. */
const SCHEMAS = "#/components/schemas/";

const without = (members: ReadonlyArray<string>, value: unknown, areNames = false): unknown => {
  if (Array.isArray(value)) return value.map((each) => without(members, each));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => areNames || !members.includes(name))
      .map(([name, inner]) => [
        name,
        name === "$ref"
          ? String(inner).replace(SCHEMAS, "#")
          : without(members, inner, name === "properties" && !areNames),
      ]),
  );
};

const asAsked = (schema: unknown): Schema => without(WORDS, schema) as Schema;
const asAnswered = (schema: unknown): Schema => without([...WORDS, ...LIMITS], schema) as Schema;

type Answer = { readonly headers?: Schema; readonly content?: Readonly<Record<string, Schema>> };
type Operation = {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly schema: Schema;
  }>;
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, Schema>>;
  };
  readonly responses: Readonly<Record<string, Answer & { readonly $ref?: string }>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Answer>>;
  };
};

const contentOf = (
  content: Readonly<Record<string, Schema>> = {},
  outlined: (schema: unknown) => Schema,
): Content =>
  Object.fromEntries(
    Object.entries(content).map(([type, { schema }]) => [type, outlined(schema ?? {})]),
  );

/** The outline of an OpenAPI 3.1 document, such as `openapi.json`. */
export const httpOutline = (openapi: string): HttpOutline => {
  const { paths, components } = JSON.parse(openapi) as Document;
  const answersOf = ({ responses }: Operation): OperationOutline["answers"] => {
    const alike = new Map<string, Array<string>>();
    for (const [status, stated] of Object.entries(responses)) {
      const name = (stated.$ref ?? "").replace("#/components/responses/", "");
      const { headers = {}, content } = components.responses[name] ?? stated;
      const text = JSON.stringify({
        // Those of problems follow from their status.
        headers: /^[23]/.test(status) ? Object.keys(headers).toSorted() : [],
        content: contentOf(content, asAnswered),
      });
      alike.set(text, [...(alike.get(text) ?? []), status]);
    }
    return Object.fromEntries(
      [...alike].map(([text, statuses]) => [
        statuses.join(","),
        JSON.parse(text) as OperationOutline["answers"][string],
      ]),
    );
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const { operationId, parameters = [], requestBody } = operation;
      const outline: OperationOutline = {
        id: operationId,
        parameters: Object.fromEntries(
          parameters.map(({ name, in: where, required = false, schema }) => [
            `${where} ${name}`,
            { required, schema: asAsked(schema) },
          ]),
        ),
        body:
          requestBody === undefined
            ? null
            : {
                required: requestBody.required ?? false,
                content: contentOf(requestBody.content, asAsked),
              },
        answers: answersOf(operation),
      };
      return [`${method.toUpperCase()} ${path}`, outline] as const;
    }),
  );
  const schemas: Record<string, Schema> = {};
  /** Takes the schemas that a part leads to, and has not taken yet. */
  const take = (part: unknown, outlined: (schema: unknown) => Schema): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"\$ref":"#([^"]+)"/g)) {
      if (Object.hasOwn(schemas, name)) continue;
      schemas[name] = outlined(components.schemas[name] ?? {});
      take(schemas[name], outlined);
    }
  };
  // What is asked and answered has its limits.
  const asked = operations.map(([, { parameters, body }]) => ({ parameters, body }));
  take(asked, asAsked);
  take(operations, asAnswered);
  return { operations: Object.fromEntries(operations), schemas };
};
