import { expect, test } from "bun:test";
import { Readable } from "node:stream";
import fc from "fast-check";
import { localKey } from "../../../../adapters/local-ledger/genesis/local-keys.ts";
import {
  judgeExchange,
  linesIn,
  parseExchange,
} from "../../../../client/merchant/attestor/judge-exchange.ts";
import { parseRules } from "../../../../client/merchant/attestor/rules.ts";
import { taskHash } from "../../../../core/domain/escrow/task-hash.ts";
import { exchangeOf, RULES } from "./rules-fixture.ts";

const escrow = localKey("anything").address;
const good = exchangeOf(escrow, "n1");
const judged = {
  taskHash: taskHash(`GET ${good.request.url}`, "n1") as string,
  merchant: localKey("merchant/forecast").address as string,
  network: "net",
};

// Compiling the schemas takes a quarter of a second.
const parsedRules = new Map<string, ReturnType<typeof parseRules>>();
const rulesIn = (text: string) => {
  const rules = parsedRules.get(text) ?? parseRules(text);
  parsedRules.set(text, rules);
  return rules;
};

const judge = (record: object, against = judged, rules: object = RULES) => {
  const parsed = parseExchange(JSON.stringify(record));
  if ("fault" in parsed) throw new Error(parsed.fault);
  return judgeExchange(rulesIn(JSON.stringify(rules)), parsed.value, against);
};

test("an exchange that keeps every rule gives the payload that the rule names", () => {
  expect(judge(good)).toEqual({
    rule: "forecast",
    template: "api-delivered-v1",
    payload: {
      proof_template_id: "api-delivered-v1",
      task_hash: judged.taskHash,
      request_url: good.request.url,
      status_code: 200,
      content_sha256: new Bun.CryptoHasher("sha256").update('{"celsius":7}').digest("hex"),
      delivered_at: good.delivered_at,
      merchant_statement: "judged by rule",
    },
  });
});

const wrong: ReadonlyArray<readonly [string, object, string]> = [
  ["status", { response: { ...good.response, status: 500 } }, "the status is 500"],
  ["latency", { latency_ms: 1001 }, "took 1001 ms"],
  ["no JSON", { response: { status: 200, body_base64: btoa("{") } }, "no JSON"],
  ["schema", { response: { status: 200, body_base64: btoa('{"celsius":"7"}') } }, "/celsius"],
  ["no UTF-8", { response: { status: 200, body_base64: "//8=" } }, "no UTF-8"],
  ["another nonce", { nonce: "n2" }, "another request"],
  ["another URL", { request: { method: "GET", url: `${good.request.url}&x` } }, "another request"],
  ["another method", { request: { ...good.request, method: "POST" } }, "no rule is for POST"],
];
for (const [name, change, reason] of wrong)
  test(`${name} is refused with its reason`, () => {
    expect(judge({ ...good, ...change })).toEqual({
      reasons: [expect.stringContaining(reason)],
    });
  });

test("every reason is given, and another merchant has no rule", () => {
  const several = { ...good, latency_ms: 5000, response: { ...good.response, status: 404 } };
  expect(judge(several)).toMatchObject({ reasons: { length: 2 } });
  expect(judge(good, { ...judged, merchant: escrow })).toMatchObject({
    reasons: [expect.stringContaining("no rule")],
  });
});

test("a body of another hash is refused, and the latency is a limit, not a bound to exceed", () => {
  const rules = {
    ...RULES,
    rules: RULES.rules.map((r) => ({ ...r, content_sha256: "0".repeat(64) })),
  };
  expect(judge(good, judged, rules)).toMatchObject({
    reasons: [expect.stringContaining("SHA-256")],
  });
  fc.assert(
    fc.property(fc.nat(3000), (latency_ms) => {
      expect("reasons" in judge({ ...good, latency_ms })).toBe(latency_ms > 1000);
    }),
    { numRuns: 20 },
  );
});

test("a line that is no exchange says what is wrong, and none throws", () => {
  const faultOf = (line: string) => {
    const parsed = parseExchange(line);
    return "fault" in parsed ? parsed.fault : null;
  };
  expect(faultOf("{")).toStartWith("it is no JSON");
  expect(faultOf(JSON.stringify({ ...good, extra: 1 }))).toContain("additional properties: extra");
  const notBase64 = { ...good, response: { status: 200, body_base64: "?" } };
  expect(faultOf(JSON.stringify(notBase64))).toContain("base64");
  fc.assert(fc.property(fc.json(), (line) => faultOf(line) !== null));
});

test("a line that can be read in two ways is no exchange", () => {
  const twice = JSON.stringify(good).replace('"latency_ms"', '"latency_ms":1,"latency_ms"');
  expect(parseExchange(twice)).toHaveProperty("fault");
});

test("a buyer's nonce divides no record, wherever its bytes are cut", async () => {
  const nonce = "order\u2028\u2029\u0085\u000b1";
  const records = [exchangeOf(good.escrow, nonce), good].map((each) => JSON.stringify(each));
  const bytes = new TextEncoder().encode(`${records.join("\r\n")}\n\n${records.join("\n")}`);
  for (const size of [1, 7, bytes.length]) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const lines = await Array.fromAsync(linesIn(Readable.from(parts)));
    expect(lines).toEqual([...records, "", ...records]);
  }
  expect(parseExchange(records[0] ?? "")).toMatchObject({ value: { nonce } });
});

const broken: ReadonlyArray<readonly [string, string]> = [
  ["{", "no JSON"],
  ["{}", "malformed"],
  [JSON.stringify({ ...RULES, extra: 1 }), "additional properties: extra"],
  [
    JSON.stringify({ ...RULES, rules: RULES.rules.map((r) => ({ ...r, template: "x" })) }),
    "template x",
  ],
  [
    JSON.stringify({
      ...RULES,
      rules: RULES.rules.map((r) => ({ ...r, json_schema: { type: 1 } })),
    }),
    "json_schema of rule forecast",
  ],
];
for (const [text, says] of broken)
  test(`rules that are wrong are refused: ${says}`, () => {
    expect(() => parseRules(text)).toThrow(says);
  });
