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

/** Reads an OpenAPI document as this service makes it. */
export const readContractDocument = (text: string): ContractDocument => {
  const document = JSON.parse(text) as {
    readonly paths: Record<string, Record<string, Json>>;
    readonly components: Record<"schemas" | "responses" | "examples", Record<string, unknown>>;
  };
  const { schemas, responses, examples } = document.components;
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
        ...answers.filter(isSuccess).map(([, answer]) => answer),
      ]);
      for (const parameter of (operation["parameters"] ?? []) as ReadonlyArray<{ name: string }>)
        own.fields.add(parameter.name);
      const refused = namesIn(answers.filter((answer) => !isSuccess(answer)));
      const shared = [...refused.refs].filter((ref) => ref.startsWith(RESPONSES));
      const problems = [
        ...refused.values,
        ...shared.flatMap((ref) =>
          Array.from(namesIn(responses[ref.slice(RESPONSES.length)]).values),
        ),
      ];
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
        problems: new Set(problems.filter((code) => problemCodes.includes(code))),
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
