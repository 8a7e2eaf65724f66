import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";
import { jsonOf, makeService } from "../support/service.ts";

type Json = Readonly<Record<string, unknown>>;
type Content = Readonly<Record<string, { readonly schema: Json }>>;
type Response_ = { readonly $ref?: string; readonly content?: Content };
type Operation = {
  readonly operationId: string;
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly schema: Json }>;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Response_>>;
};
type Document = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly responses: Readonly<Record<string, Response_>>;
  };
};

let service: Awaited<ReturnType<typeof makeService>>;
let document: Document;
let operations: ReadonlyArray<Operation>;

beforeAll(async () => {
  service = await makeService();
  const response = await service.app.handle(new Request("http://localhost/openapi.json"));
  document = await jsonOf<Document>(response);
  operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
});
afterAll(() => service.runtime.dispose());

const isJson = (value: unknown): value is Json => typeof value === "object" && value !== null;
const REF = "#/components/schemas/";
const refOf = ({ $ref }: Json): string | undefined =>
  typeof $ref === "string" ? $ref.slice(REF.length) : undefined;

const contentsOf = ({ responses }: Operation) =>
  Object.entries(responses).flatMap(([status, response]) => {
    const name = response.$ref?.split("/").at(-1) ?? "";
    const { content = {} } =
      response.$ref === undefined ? response : (document.components.responses[name] ?? {});
    return Object.entries(content).map(([mediaType, { schema }]) => ({
      status,
      mediaType,
      schema,
    }));
  });

const SAMPLES = new Set(["example", "examples", "default", "const", "enum", "value"]);

/** Every object of a part of the document, with the keys that lead to it; without examples. */
const objectsIn = function* (
  part: unknown,
  path: string,
): Generator<{ readonly path: string; readonly part: Json }> {
  if (!isJson(part)) return;
  if (!Array.isArray(part)) yield { path, part };
  for (const [key, inner] of Object.entries(part))
    if (!SAMPLES.has(key) || path.endsWith("/properties"))
      yield* objectsIn(inner, `${path}/${key}`);
};

describe("the needs of client generators", () => {
  test("every problem has the one named schema, whose code is an enum of all codes", () => {
    const problems = operations
      .flatMap(contentsOf)
      .filter(({ mediaType }) => mediaType === "application/problem+json");
    expect(problems.length).toBeGreaterThan(100);
    expect(problems.filter(({ schema }) => refOf(schema) !== "Problem")).toEqual([]);
    const { Problem, ProblemCode } = document.components.schemas;
    expect((Problem?.["properties"] as Json | undefined)?.["code"]).toEqual({
      $ref: `${REF}ProblemCode`,
    });
    expect(ProblemCode).toMatchObject({ type: "string", enum: PROBLEM_CODES });
  });

  test("every JSON body is a named schema", () => {
    const sent = operations.flatMap(({ operationId, requestBody }) =>
      Object.entries(requestBody?.content ?? {})
        .filter(([mediaType]) => mediaType === "application/json")
        .map(([, { schema }]) => ({ operationId, schema })),
    );
    const answered = operations.flatMap((operation) =>
      contentsOf(operation)
        .filter(({ mediaType }) => mediaType === "application/json")
        .map(({ schema }) => ({ operationId: operation.operationId, schema })),
    );
    expect([sent.length > 2, answered.length > 20]).toEqual([true, true]);
    expect([...sent, ...answered].filter(({ schema }) => refOf(schema) === undefined)).toEqual([]);
  });

  test("an enum and an object with members are named components and never inline", () => {
    const unnamed = [...objectsIn(document, "")].filter(({ path, part }) => {
      const isNamed = /^\/components\/schemas\/[^/]+$/.test(path);
      const { enum: listed, type, properties } = part;
      const hasMembers = type === "object" && isJson(properties);
      return (
        !isNamed && (Array.isArray(listed) || (hasMembers && Object.keys(properties).length > 0))
      );
    });
    expect(unnamed.map(({ path }) => path)).toEqual([]);
  });

  test("answers may gain members, requests may not have others", () => {
    const sent = new Set<string>();
    const visit = (part: unknown): void => {
      for (const { part: inner } of objectsIn(part, "")) {
        const name = refOf(inner);
        if (name === undefined || sent.has(name)) continue;
        sent.add(name);
        visit(document.components.schemas[name]);
      }
    };
    for (const { requestBody } of operations) visit(requestBody);
    const isClosed = (name: string): boolean =>
      document.components.schemas[name]?.["additionalProperties"] === false;
    const objects = Object.entries(document.components.schemas).flatMap(([name, { type }]) =>
      type === "object" ? [name] : [],
    );
    // Wallets add members of their own to what they post.
    const expected = objects.filter((name) => sent.has(name) && name !== "ActionRequest");
    expect(expected.length).toBeGreaterThan(2);
    expect(objects.filter(isClosed)).toEqual(expected);
  });

  test("requests state patterns and lengths, as answers do", () => {
    const { PrepareEscrowRequest, RelayRequest, PreparedInputs } = document.components.schemas;
    const member = (schema: Json | undefined, name: string) =>
      (schema?.["properties"] as Readonly<Record<string, Json>> | undefined)?.[name];
    for (const name of ["agent_owner", "merchant", "mint"]) {
      const { pattern } = member(PreparedInputs, name) ?? {};
      expect(pattern).toBeString();
      expect(member(PrepareEscrowRequest, name)).toMatchObject({ pattern, maxLength: 44 });
    }
    expect(member(PrepareEscrowRequest, "amount_stroops")).toHaveProperty("pattern");
    expect(member(RelayRequest, "signed_transaction")).toMatchObject({ maxLength: 1644 });
    const unbounded = operations.flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ name }) =>
          ["pda", "pubkey", "signature", "merchant", "agent_owner"].includes(name),
        )
        .filter(({ schema }) => typeof schema["pattern"] !== "string")
        .map(({ name }) => `${operationId} ${name}`),
    );
    expect(unbounded).toEqual([]);
  });

  test("the stream says what the data of its events is", () => {
    const stream = operations.find(({ operationId }) => operationId === "streamEvents");
    const schema = stream?.responses["200"]?.content?.["text/event-stream"]?.schema;
    expect(schema).toMatchObject({
      type: "string",
      contentMediaType: "application/json",
      contentSchema: { $ref: `${REF}StreamedSettlementEvent` },
    });
  });
});
