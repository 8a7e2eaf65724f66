import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { data } from "../../../../adapters/http/openapi/envelopes.ts";
import { oneOf, record } from "../../../../adapters/http/openapi/values.ts";
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
  text: Effect.succeed({ status: 200 as const, text: "{}" }),
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
};

test("the compiler holds a handler to the answers that are declared", () => {
  const declared = [
    endpoint({ ...operation, handle: () => answers.row }),
    endpoint({ ...operation, handle: () => answers.text }),
    endpoint({ ...operation, handle: () => answers.notModified }),
  ];
  const undeclared = [
    // @ts-expect-error All that a row has is missing.
    endpoint({ ...operation, handle: () => answers.nonsense }),
    // @ts-expect-error A row has no `nonsense`.
    endpoint({ ...operation, handle: () => answers.unknownMember }),
    // @ts-expect-error A part has no `other`.
    endpoint({ ...operation, handle: () => answers.unknownInside }),
    // @ts-expect-error `parts` is missing.
    endpoint({ ...operation, handle: () => answers.missingMember }),
    // @ts-expect-error `name` is a text.
    endpoint({ ...operation, handle: () => answers.wrongType }),
    // @ts-expect-error `state` has no such value.
    endpoint({ ...operation, handle: () => answers.otherValue }),
    // @ts-expect-error 201 is not declared.
    endpoint({ ...operation, handle: () => answers.otherStatus }),
    // @ts-expect-error 304 has no body.
    endpoint({ ...operation, handle: () => answers.bodyOf304 }),
    // @ts-expect-error 200 has a body.
    endpoint({ ...operation, handle: () => answers.noBody }),
  ];
  expect([declared.length, undeclared.length]).toEqual([3, 9]);
});
