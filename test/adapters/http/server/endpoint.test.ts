import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { data } from "../../../../adapters/http/openapi/envelopes.ts";
import { oneOf, record } from "../../../../adapters/http/openapi/values.ts";
import { jsonText } from "../../../../adapters/http/server/declared-answer.ts";
import { endpoint } from "../../../../adapters/http/server/endpoint.ts";

const Row = record("Row", "A row.", {
  name: Type.String(),
  state: oneOf(["open", "closed"], "How it stands."),
  parts: Type.Array(record("Part", "A part.", { count: Type.Integer() })),
  extra: Type.Object({}, { additionalProperties: true }),
});
const operation = {
  method: "GET",
  path: "/rows",
  operationId: "readRow",
  tag: "Rows",
  summary: "A row",
  description: "A row.",
  budget: null,
  answers: {
    200: {
      description: "The row.",
      content: { "application/json": { schema: data(Row), example: () => ({}) } },
    },
    304: { description: "It is the same.", content: {} },
  },
  problems: [],
} as const;
const row = { name: "a", state: "open", parts: [{ count: 1 }], extra: { anything: 1 } } as const;
const { parts: _, ...partless } = row;
const answers = {
  row: Effect.succeed({ json: { data: row } }),
  jsonText: Effect.succeed({ jsonText: jsonText({ data: row }) }),
  notModified: Effect.succeed({ status: 304 as const, text: null }),
  nonsense: Effect.succeed({ json: { data: { nonsense: true } } }),
  unknownMember: Effect.succeed({ json: { data: { ...row, nonsense: true } } }),
  unknownInside: Effect.succeed({ json: { data: { ...row, parts: [{ count: 1, other: 1 }] } } }),
  missingMember: Effect.succeed({ json: { data: partless } }),
  wrongType: Effect.succeed({ json: { data: { ...row, name: 1 } } }),
  otherValue: Effect.succeed({ json: { data: { ...row, state: "lost" as const } } }),
  otherStatus: Effect.succeed({ status: 201 as const, json: { data: row } }),
  bodyOf304: Effect.succeed({ status: 304 as const, json: { data: row } }),
  noBody: Effect.succeed({ text: null }),
  plainText: Effect.succeed({ status: 200 as const, text: "{}" }),
  unbranded: Effect.succeed({ jsonText: JSON.stringify({ data: row }) }),
  nonsenseText: Effect.succeed({ jsonText: jsonText({ data: { nonsense: true } }) }),
  unknownInText: Effect.succeed({ jsonText: jsonText({ data: { ...row, nonsense: true } }) }),
};

test("the compiler holds a handler to the answers that are declared", () => {
  const declared = [
    endpoint(operation).handle(() => answers.row),
    endpoint(operation).handle(() => answers.jsonText),
    endpoint(operation).handle(() => answers.notModified),
  ];
  const undeclared = [
    // @ts-expect-error All that a row has is missing.
    endpoint(operation).handle(() => answers.nonsense),
    // @ts-expect-error A row has no `nonsense`.
    endpoint(operation).handle(() => answers.unknownMember),
    // @ts-expect-error A part has no `other`.
    endpoint(operation).handle(() => answers.unknownInside),
    // @ts-expect-error `parts` is missing.
    endpoint(operation).handle(() => answers.missingMember),
    // @ts-expect-error `name` is a text.
    endpoint(operation).handle(() => answers.wrongType),
    // @ts-expect-error `state` has no such value.
    endpoint(operation).handle(() => answers.otherValue),
    // @ts-expect-error 201 is not declared.
    endpoint(operation).handle(() => answers.otherStatus),
    // @ts-expect-error 304 has no body.
    endpoint(operation).handle(() => answers.bodyOf304),
    // @ts-expect-error 200 has a body.
    endpoint(operation).handle(() => answers.noBody),
    // @ts-expect-error A text that is only said to be JSON.
    endpoint(operation).handle(() => answers.plainText),
    // @ts-expect-error The same, of a value that would do.
    endpoint(operation).handle(() => answers.unbranded),
    // @ts-expect-error The text of another value.
    endpoint(operation).handle(() => answers.nonsenseText),
    // @ts-expect-error The text of a row has no `nonsense` either.
    endpoint(operation).handle(() => answers.unknownInText),
  ];
  expect([declared.length, undeclared.length]).toEqual([3, 13]);
});

const asked = {
  ...operation,
  method: "POST",
  path: "/rows/{id}/parts/{part}",
  params: { id: Type.String(), part: Type.String() },
  query: Type.Object({ limit: Type.Optional(Type.Integer()) }),
  body: { schema: Type.Object({ name: Type.String() }), example: () => ({ name: "a" }) },
} as const;

test("the compiler gives a handler the declared parts of its request, and nothing else", () => {
  const { handle } = endpoint(asked);
  const declared = [
    handle(
      Effect.fnUntraced(function* ({ params, query, body }) {
        const texts: ReadonlyArray<string> = [params.id, params.part, body.name];
        const limit: number | undefined = query.limit;
        return yield* Effect.as(Effect.succeed([texts, limit]), { json: { data: row } });
      }),
    ),
    handle(({ params, body }) =>
      Effect.as(Effect.succeed(params.id + body.name), { json: { data: row } }),
    ),
  ];
  const undeclared = [
    handle(
      Effect.fnUntraced(function* ({ params, query, body, ...rest }) {
        // @ts-expect-error The path has no such parameter.
        const other: unknown = params.other;
        // @ts-expect-error The query has no such parameter.
        const cursor: unknown = query.cursor;
        // @ts-expect-error The body has no such member.
        const amount: unknown = body.amount;
        // @ts-expect-error A limit is a number.
        const limit: string | undefined = query.limit;
        // @ts-expect-error A request has no such part.
        const cookies: unknown = rest.cookies;
        return yield* Effect.as(Effect.succeed([other, cursor, amount, limit, cookies]), {
          json: { data: row },
        });
      }),
    ),
    endpoint(operation).handle(
      Effect.fnUntraced(function* ({ params, query, body }) {
        // @ts-expect-error The path has no parameter.
        const id: unknown = params.id;
        // @ts-expect-error No query is declared.
        const limit: unknown = query.limit;
        // @ts-expect-error No body is declared.
        const name: unknown = body.name;
        return yield* Effect.as(Effect.succeed([id, limit, name]), { json: { data: row } });
      }),
    ),
  ];
  expect([declared.length, undeclared.length]).toEqual([2, 2]);
});
