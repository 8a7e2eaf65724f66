type Json = { readonly [key: string]: unknown };

/** An operation of the OpenAPI document, with the names that it uses. */
export type DocumentOperation = {
  /** `GET` or `POST`. */
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  /** Fields of parameters and of what stands inline in its bodies. */
  readonly fields: ReadonlySet<string>;
  /** Schemas that its bodies name. */
  readonly schemas: ReadonlySet<string>;
  /** The same, and those that they name in their turn. */
  readonly allSchemas: ReadonlySet<string>;
  readonly problems: ReadonlySet<string>;
};

/** What an OpenAPI document says of names. */
export type ContractDocument = {
  readonly operations: ReadonlyArray<DocumentOperation>;
  /** The fields of each named schema. */
  readonly schemas: ReadonlyMap<string, ReadonlySet<string>>;
  readonly problemCodes: ReadonlyArray<string>;
  /** Every text that a field can have by its schema's `enum` or `const`. */
  readonly values: ReadonlySet<string>;
};

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;

const SAMPLES = new Set(["example", "examples", "default"]);

type Names = {
  readonly fields: Set<string>;
  readonly refs: Set<string>;
  readonly values: Set<string>;
};

/** Collects the names of a part of the document; references are named and not followed. */
const collect = (part: unknown, into: Names): Names => {
  if (!isJson(part)) return into;
  const { $ref, properties, enum: listed, const: only } = part;
  if (typeof $ref === "string") into.refs.add($ref);
  if (isJson(properties)) for (const name of Object.keys(properties)) into.fields.add(name);
  for (const value of [only, ...(Array.isArray(listed) ? (listed as Array<unknown>) : [])])
    if (typeof value === "string") into.values.add(value);
  for (const [key, value] of Object.entries(part)) if (!SAMPLES.has(key)) collect(value, into);
  return into;
};

const namesIn = (part: unknown): Names =>
  collect(part, { fields: new Set(), refs: new Set(), values: new Set() });

const isSuccess = ([status]: readonly [string, unknown]): boolean => Number(status) < 400;

const SCHEMAS = "#/components/schemas/";
const RESPONSES = "#/components/responses/";
const namedBy = ({ refs }: Names): ReadonlyArray<string> =>
  [...refs].flatMap((ref) => (ref.startsWith(SCHEMAS) ? [ref.slice(SCHEMAS.length)] : []));

const ENVELOPE = /(?:Answer|Read|Page|List)$/;

/** Whether a named schema only wraps the `data` of an answer: it is written in no file, so its operation has its fields. */
const isEnvelope = ([name, schema]: readonly [string, unknown]): boolean =>
  ENVELOPE.test(name) &&
  isJson(schema) &&
  isJson(schema["properties"]) &&
  "data" in schema["properties"];

/** A part of the document with the schemas of envelopes in the places that name them. */
const unwrapped = (part: unknown, envelopes: Json): unknown => {
  if (!isJson(part)) return part;
  if (Array.isArray(part)) return part.map((inner) => unwrapped(inner, envelopes));
  const { $ref } = part;
  const envelope =
    typeof $ref === "string" && $ref.startsWith(SCHEMAS)
      ? envelopes[$ref.slice(SCHEMAS.length)]
      : undefined;
  return (
    envelope ??
    Object.fromEntries(
      Object.entries(part).map(([key, inner]) => [key, unwrapped(inner, envelopes)]),
    )
  );
};

/** The codes of the problems that a response is an answer for: the names of its examples. */
const codesOf = (response: unknown): ReadonlyArray<string> => {
  const { content } = isJson(response) ? response : {};
  const problem = isJson(content) ? content["application/problem+json"] : undefined;
  const examples = isJson(problem) ? problem["examples"] : undefined;
  return isJson(examples) ? Object.keys(examples) : [];
};

/** Reads an OpenAPI document as this service makes it. */
export const readContractDocument = (text: string): ContractDocument => {
  const document = JSON.parse(text) as {
    readonly paths: Record<string, Record<string, Json>>;
    readonly components: Record<"schemas" | "responses" | "examples", Record<string, unknown>>;
  };
  const { responses, examples } = document.components;
  const envelopes = Object.fromEntries(
    Object.entries(document.components.schemas).filter(isEnvelope),
  );
  const schemas = Object.fromEntries(
    Object.entries(document.components.schemas).filter((entry) => !isEnvelope(entry)),
  );
  const problemCodes = Object.keys(examples);
  const namesOfSchema = new Map(
    Object.entries(schemas).map(([name, schema]) => [name, namesIn(schema)]),
  );
  const values = new Set([...namesOfSchema.values()].flatMap((names) => Array.from(names.values)));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): DocumentOperation => {
      const answers = Object.entries(operation["responses"] as Json);
      const own = namesIn([
        operation["requestBody"],
        operation["parameters"],
        ...answers.filter(isSuccess).map(([, answer]) => unwrapped(answer, envelopes)),
      ]);
      for (const parameter of (operation["parameters"] ?? []) as ReadonlyArray<{ name: string }>)
        own.fields.add(parameter.name);
      const problems = answers
        .filter((answer) => !isSuccess(answer))
        .flatMap(([, answer]) => {
          const { $ref } = isJson(answer) ? answer : {};
          return codesOf(
            typeof $ref === "string" ? responses[$ref.slice(RESPONSES.length)] : answer,
          );
        });
      for (const value of own.values) values.add(value);
      const allSchemas = new Set(namedBy(own));
      for (const name of allSchemas)
        for (const inner of namedBy(namesOfSchema.get(name) ?? namesIn(null)))
          allSchemas.add(inner);
      return {
        method: method.toUpperCase(),
        path,
        operationId: String(operation["operationId"]),
        summary: String(operation["summary"]),
        fields: own.fields,
        schemas: new Set(namedBy(own)),
        allSchemas,
        problems: new Set(problems),
      };
    }),
  );
  return {
    operations,
    schemas: new Map([...namesOfSchema].map(([name, { fields }]) => [name, fields])),
    problemCodes,
    values,
  };
};
