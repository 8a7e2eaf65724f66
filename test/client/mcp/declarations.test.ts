import { expect, test } from "bun:test";
import Ajv2020 from "ajv/dist/2020";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { declaredTools, SERVER_INFO } from "../../../client/mcp/mcp-server.ts";
import packageJson from "../../../package.json" with { type: "json" };

const tools = declaredTools(true);

const tokensOf = (listed: ReturnType<typeof declaredTools>): number =>
  encode(JSON.stringify({ tools: listed })).length;

test("there are at most ten tools, and their list has fewer than 3,000 tokens", () => {
  const alone = declaredTools();
  expect(alone.length).toBeLessThanOrEqual(10);
  expect(tokensOf(alone)).toBeLessThan(3000);
});

test("sessions add five tools and fewer than 1,500 tokens", () => {
  expect(tools.slice(10).map(({ name }) => name)).toEqual([
    "open_session",
    "paid_fetch",
    "find_sessions",
    "close_session",
    "read_call_evidence",
  ]);
  const tokens = tokensOf(tools);
  expect(tokens - tokensOf(declaredTools())).toBeLessThan(1500);
  // The counter counts: a list twice as long has about twice as many.
  expect(encode(JSON.stringify({ tools: [...tools, ...tools] })).length).toBeGreaterThan(
    1.9 * tokens,
  );
});

/** The names of members at any depth of a schema. */
const namesIn = (schema: unknown): ReadonlyArray<string> => {
  if (typeof schema !== "object" || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap(namesIn);
  return Object.entries(schema).flatMap(([name, value]) =>
    name === "properties" ? [...Object.keys(value as object), ...namesIn(value)] : namesIn(value),
  );
};

const LIKE_A_KEY =
  /key|secret|seed|mnemonic|phrase|private|password|passphrase|keypair|wallet_file|token$/i;

test.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s takes nothing like a key",
  (_, { inputSchema }) => {
    expect(namesIn(inputSchema).filter((name) => LIKE_A_KEY.test(name))).toEqual([]);
    // An open schema would take one under any name; a payload is the one value with members of its own.
    expect(inputSchema["additionalProperties"]).toBe(false);
    const open = Object.entries(inputSchema.properties).filter(
      ([, schema]) => (schema as { type: string }).type === "object",
    );
    expect(open.map(([name]) => name).filter((name) => name !== "payload")).toEqual([]);
  },
);

test("a schema that takes a key is found", () => {
  const planted = { type: "object", properties: { a: { properties: { secret_key: {} } } } };
  expect(namesIn(planted).filter((name) => LIKE_A_KEY.test(name))).toEqual(["secret_key"]);
});

test.each(tools.map((tool) => [tool.name, tool] as const))(
  "%s declares a valid input and output schema, both of objects",
  (_, { inputSchema, outputSchema, description }) => {
    const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
    for (const schema of [inputSchema, outputSchema]) {
      expect(schema.type).toBe("object");
      expect(() => ajv.compile(schema)).not.toThrow();
    }
    expect(outputSchema["required"]).toBeArray();
    expect(description).not.toInclude("\n");
  },
);

test("only relaying and paying are destructive, and a transaction may be relayed again", () => {
  const changing = tools.filter(({ annotations }) => !annotations.readOnlyHint);
  expect(changing.map(({ name, annotations }) => [name, annotations])).toEqual([
    ["relay_transaction", { readOnlyHint: false, destructiveHint: true, idempotentHint: true }],
    ["open_session", { readOnlyHint: false, destructiveHint: false, idempotentHint: true }],
    ["paid_fetch", { readOnlyHint: false, destructiveHint: true, idempotentHint: false }],
    ["close_session", { readOnlyHint: false, destructiveHint: false, idempotentHint: true }],
  ]);
});

test("the server names the version of the service", () => {
  expect(SERVER_INFO).toEqual({ name: packageJson.name, version: packageJson.version });
});
