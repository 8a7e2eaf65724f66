import { expect, test } from "bun:test";
import { rm } from "node:fs/promises";
import { installedOffline } from "../client/package/installed.ts";
import { clientFaults, declarationsOf } from "./client-compatible.ts";
import { programFaults, programOutline } from "./golden-files.ts";
import { httpFaults } from "./http-compatible.ts";
import { httpOutline, type Schema } from "./http-outline.ts";

/** A contract of one operation, whose body and answer are these. */
const contract = (asked: Schema, answered: Schema, more: object = {}) =>
  httpOutline(
    JSON.stringify({
      paths: {
        "/v1/things": {
          post: {
            operationId: "makeThing",
            parameters: [
              { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 50 } },
            ],
            requestBody: { content: { "application/json": { schema: asked } } },
            responses: {
              200: {
                headers: { etag: {} },
                content: {
                  "application/json": { schema: { $ref: "#/components/schemas/Thing" } },
                },
              },
              404: { $ref: "#/components/responses/absent" },
            },
            ...more,
          },
        },
      },
      components: {
        schemas: { Thing: answered },
        responses: { absent: { content: { "application/problem+json": { schema: {} } } } },
      },
    }),
  );

const ASKED: Schema = {
  type: "object",
  description: "words",
  properties: {
    name: { type: "string", maxLength: 10 },
    kind: { enum: ["a", "b"] },
    at: { anyOf: [{ type: "integer" }, { type: "null" }] },
  },
  required: ["name"],
};
const ANSWERED: Schema = {
  type: "object",
  properties: {
    id: { type: "string" },
    version: { const: "v1" },
    state: { anyOf: [{ const: "open" }, { const: "closed" }] },
    next: { $ref: "#/components/schemas/Thing" },
  },
  required: ["id", "state"],
};
const then = contract(ASKED, ANSWERED);

/** A copy with other values at some paths; undefined takes what is there away. */
const edited = <T extends object>(whole: T, edits: Readonly<Record<string, unknown>>): T => {
  const copy = structuredClone(whole);
  for (const [path, value] of Object.entries(edits)) {
    const names = path.split(".");
    const last = names.pop() ?? "";
    const place = names.reduce(
      (at, name) => (at as Readonly<Record<string, unknown>>)[name],
      copy as unknown,
    ) as Record<string, unknown>;
    if (value === undefined) delete place[last];
    else place[last] = value;
  }
  return copy;
};
const asking = (edits: Readonly<Record<string, unknown>>) => () =>
  httpFaults(then, contract(edited(ASKED, edits), ANSWERED));
const answering = (edits: Readonly<Record<string, unknown>>) => () =>
  httpFaults(then, contract(ASKED, edited(ANSWERED, edits)));
const declaring = (more: object) => () => httpFaults(then, contract(ASKED, ANSWERED, more));

test.each([
  ["the same", asking({})],
  ["other words", asking({ description: "others" })],
  ["a member that may be given", asking({ "properties.more": {} })],
  ["a longer text that is taken", asking({ "properties.name.maxLength": 20 })],
  ["a member that need not be given", asking({ required: [] })],
  ["one more name that is taken", asking({ "properties.kind.enum": ["a", "b", "c"] })],
  ["a new member of an answer", answering({ "properties.more": {} })],
  ["a new name in an answer", answering({ "properties.state.anyOf.2": { const: "new" } })],
  ["a member that is always there", answering({ required: ["id", "state", "version"] })],
  ["an operation", () => httpFaults({ operations: {}, schemas: {} }, then)],
])("an addition is no break: %s", (_, faults) => {
  expect(faults()).toEqual([]);
});

const A = "POST /v1/things";
const LIMIT = { name: "limit", in: "query", schema: {} };
const json = (required: boolean) => ({
  required,
  content: { "application/json": { schema: ASKED } },
});
test.each([
  [`${A} body/name: is gone`, asking({ "properties.name": undefined })],
  [`${A} body/kind: is required now`, asking({ required: ["name", "kind"] })],
  [
    `${A} body/more: is required now`,
    asking({ "properties.more": {}, required: ["name", "more"] }),
  ],
  [`${A} body/name: maxLength is 9, was 10`, asking({ "properties.name.maxLength": 9 })],
  [`${A} body/name: pattern has changed`, asking({ "properties.name.pattern": "x" })],
  [`${A} body/kind: "a" is gone`, asking({ "properties.kind.enum": ["b"] })],
  [`${A} body/at: was null, is integer`, asking({ "properties.at.anyOf": [{ type: "integer" }] })],
  [`${A} 200/id: is gone`, answering({ "properties.id": undefined })],
  [`${A} 200/id: is optional now`, answering({ required: ["state"] })],
  [`${A} 200/id: was string, is integer`, answering({ "properties.id.type": "integer" })],
  [`${A} 200/version: "v1" is gone`, answering({ "properties.version.const": "v2" })],
  [
    `${A} 200/version: is no constant any more`,
    answering({ "properties.version": { enum: ["v1", "v2"] } }),
  ],
  [
    `${A} 200/state: "closed" is gone`,
    answering({ "properties.state.anyOf": [{ const: "open" }] }),
  ],
  [
    `${A} 200/id: was string, is null`,
    answering({ "properties.id": { anyOf: [{ type: "string" }, { type: "null" }] } }),
  ],
  [`${A}: is gone`, () => httpFaults(then, { operations: {}, schemas: {} })],
  [`${A}: its operationId was makeThing`, declaring({ operationId: "x" })],
  [`${A}: the parameter query limit is gone`, declaring({ parameters: [] })],
  [
    `${A}: header x is required and new`,
    declaring({ parameters: [LIMIT, { ...LIMIT, name: "x", in: "header", required: true }] }),
  ],
  [`${A}: query limit is required now`, declaring({ parameters: [{ ...LIMIT, required: true }] })],
  [`${A}: a body is required now`, declaring({ requestBody: json(true) })],
  [`${A} body: no application/json any more`, declaring({ requestBody: undefined })],
])("a break is named: %s", (fault, faults) => {
  expect(faults()).toEqual([fault]);
});

test("a status, a header and a media type that are gone are named", () => {
  const schema = { $ref: "#/components/schemas/Thing" };
  const responses = { 200: { content: { "text/plain": { schema } } } };
  expect(declaring({ responses })()).toEqual([
    `${A} 200: has no etag any more`,
    `${A} 200: no application/json any more`,
    `${A} 404: is answered no more`,
  ]);
});

test("of a program only what is new is an addition", () => {
  const whole = {
    instructions: [{ name: "pay", docs: ["words"], discriminator: [1], args: [{ name: "n" }] }],
    types: [{ name: "Escrow", type: { fields: [{ name: "n", type: "u64" }] } }],
    errors: [{ code: 6000, name: "No", msg: "words" }],
  };
  const faults = (edits: Readonly<Record<string, unknown>>) =>
    programFaults(
      programOutline(JSON.stringify(whole)),
      programOutline(JSON.stringify(edited(whole, edits))),
    );
  expect(faults({ "instructions.1": { name: "more" } })).toEqual([]);
  expect(faults({ "errors.0.msg": "others" })).toEqual([]);
  expect(faults({ "instructions.0.args": [] })).toEqual(["instructions pay: has changed"]);
  expect(faults({ "types.0.type.fields.1": {} })).toEqual(["types Escrow: has changed"]);
  expect(faults({ errors: [] })).toEqual(["errors No: is gone"]);
});

test("of the client package's types a break is named, and an addition is none", async () => {
  const installed = await installedOffline();
  const now = await declarationsOf(installed);
  const instead = (path: string, text: string, by: string) => {
    expect(now[path]).toContain(text);
    return { ...now, [path]: (now[path] ?? "").replace(text, by) };
  };
  const PAY = "client/pay/pay.d.ts";
  const faultsOf = async (declarations: Readonly<Record<string, string>>) =>
    (await clientFaults(declarations, installed)).join("\n");
  // Yesterday had less: today's is an addition.
  expect(await faultsOf(instead(PAY, "readonly nonce: string;", ""))).toBe("");
  // Yesterday had more.
  expect(
    await faultsOf(instead(PAY, "readonly nonce", "readonly gone: string; readonly nonce")),
  ).toContain("Property 'gone' is missing");
  expect(
    await faultsOf(
      instead(
        "client/index.d.ts",
        "export { connect }",
        "export declare const gone: number; export { connect }",
      ),
    ),
  ).toContain("Property 'gone' is missing");
  // Yesterday's amount could be a number too.
  expect(
    await faultsOf(
      instead("client/pay/payment-terms.d.ts", "amount: string", "amount: string | number"),
    ),
  ).toContain("is not assignable to type");
  await rm(installed.folder, { recursive: true });
}, 240_000);
