import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { compileErrors, validate } from "@readme/openapi-parser";
import { Validator } from "@seriousme/openapi-schema-validator";
import { webhookBody } from "../../../../adapters/http/index/webhook-body.ts";
import { sampleInstance } from "../../../../adapters/http/openapi/sample-ledger.ts";
import { SAMPLE, sampleEscrow } from "../../../../adapters/http/openapi/sample-values.ts";
import { PROBLEM_CODES } from "../../../../adapters/http/problems/problem-catalogue.ts";
import { indexedEscrowOf } from "../../../../core/log/leaf/escrow-rows.ts";
import { indexedEventsOf } from "../../../../core/log/leaf/indexed-leaves.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { webhookHeaders } from "../../../../core/use-cases/webhook/webhook-signature.ts";
import { documentSchemas } from "../support/document-schemas.ts";
import { makeService } from "../support/service.ts";

type Json = Record<string, unknown>;
type Content = {
  readonly schema: Json;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly $ref: string }>>;
};
type Response_ = { readonly $ref?: string; readonly content?: Readonly<Record<string, Content>> };
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: ReadonlyArray<{ readonly name: string }>;
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Response_>>;
};
type Document = {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly responses: Readonly<Record<string, Response_>>;
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>;
  };
};

let service: Awaited<ReturnType<typeof makeService>>;
let text: string;
let document: Document;
let operations: ReadonlyArray<readonly [string, Operation]>;

const documentOf = async ({ app }: Pick<typeof service, "app">): Promise<string> =>
  (await app.handle(new Request("http://localhost/openapi.json"))).text();

beforeAll(async () => {
  service = await makeService();
  text = await documentOf(service);
  document = JSON.parse(text) as Document;
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  );
});
afterAll(() => service.runtime.dispose());

const resolved = (response: Response_): Response_ =>
  response.$ref === undefined
    ? response
    : (document.components.responses[response.$ref.split("/").at(-1) ?? ""] ?? {});

test("two independent validators accept the document without a warning", async () => {
  const first = await new Validator().validate(JSON.parse(text) as Json);
  expect(first).toMatchObject({ valid: true });
  const second = await validate(JSON.parse(text) as never);
  expect(second.valid ? "" : compileErrors(second)).toBe("");
  expect(second.warnings).toEqual([]);
});

test("it is OpenAPI 3.1.0 of the contract's version, the same text every time", async () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info.version).toBe("1.0.0-devnet");
  const other = await makeService();
  expect(await documentOf(other)).toBe(text);
  await other.runtime.dispose();
});

test("/openapi.json serves it as JSON", async () => {
  const response = await service.app.handle(new Request("http://localhost/openapi.json"));
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.text()).toBe(text);
});

test("every operation of the specification is there, and none twice", () => {
  const specified = [
    "get /health",
    "get /openapi.json",
    "get /v1",
    "get /v1/status",
    "post /v1/escrows/prepare",
    "get /v1/escrows/{pda}",
    "get /v1/evidence/{pda}",
    "get /v1/merchants/{pubkey}",
    "get /v1/registry/merchants",
    "get /v1/proof-templates",
    "get /v1/indexer",
    "get /v1/indexer/events",
    "post /v1/indexer/sync",
    "get /v1/relay",
    "post /v1/relay",
  ];
  const names = operations.map(([name]) => name);
  expect(specified.filter((name) => !names.includes(name))).toEqual([]);
  expect(names.length).toBe(service.app.operations.length);
  const ids = operations.map(([, { operationId }]) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(operations.filter(([, { summary }]) => summary === "")).toEqual([]);
});

describe("examples", () => {
  const examplesOf = ({ example, examples }: Content): ReadonlyArray<unknown> =>
    examples === undefined
      ? [example]
      : Object.keys(examples).map((name) => document.components.examples[name]?.value);

  test("every body and every answer has an example, and each example validates", () => {
    const faultOf = documentSchemas(document.components);
    for (const [name, operation] of operations) {
      const bodies = Object.values(operation.requestBody?.content ?? {});
      const answers = Object.values(operation.responses).flatMap((response) =>
        Object.values(resolved(response).content ?? {}),
      );
      for (const content of [...bodies, ...answers])
        for (const example of examplesOf(content)) {
          expect(example, name).toBeDefined();
          expect(faultOf(content.schema, example), name).toBe("");
        }
    }
  });

  test("the example packet verifies under the example trust document", () => {
    const exampleOf = (path: string) =>
      document.paths[path]?.["get"]?.responses["200"]?.content?.["application/json"]?.example;
    const packet = JSON.stringify(exampleOf("/v1/evidence/{pda}"));
    const trust = JSON.stringify(exampleOf("/.well-known/evidence-trust.json"));
    expect([packet.length > 500, trust.length > 300]).toEqual([true, true]);
    const policy = parseTrustPolicy(trust);
    if ("fault" in policy) throw new Error(policy.fault);
    expect(verifyEvidence(packet, policy.value)).toMatchObject({ verdict: "verified" });
  });
});

test("every problem code is an answer of some operation", () => {
  const codes = operations.flatMap(([, { responses }]) =>
    Object.values(responses).flatMap((response) =>
      Object.keys(resolved(response).content?.["application/problem+json"]?.examples ?? {}),
    ),
  );
  const used = new Set(codes);
  expect(PROBLEM_CODES.filter((code) => !used.has(code))).toEqual([]);
});

test("every operation has the answer to a head that is too large, which has no body", () => {
  const statuses = operations.map(([name, { responses }]) => {
    const answer = responses["431"];
    return [name, answer === undefined ? "none" : resolved(answer)] as const;
  });
  for (const [name, answer] of statuses) {
    expect(answer, name).toHaveProperty("description");
    expect(answer, name).not.toHaveProperty("content");
  }
});

describe("a body that the service refuses by a field", () => {
  const bodyOf = (path: string) => {
    const content = document.paths[path]?.["post"]?.requestBody?.content["application/json"];
    if (content === undefined) throw new Error(`${path} takes no body`);
    return content;
  };
  const isStated = (path: string, change: (example: Json) => Json): boolean => {
    const { schema, example } = bodyOf(path);
    return documentSchemas(document.components)(schema, change(example as Json)) === "";
  };

  test.each([
    ["merchant", ["", "1".repeat(31), "1".repeat(45), `0${"1".repeat(39)}`]],
    ["attestor", ["", "1".repeat(31), "1".repeat(45), `l${"1".repeat(39)}`]],
    ["payer", ["", "1".repeat(31), "1".repeat(45), `O${"1".repeat(39)}`]],
    ["name", ["", "x".repeat(33), "a\nb", "a\u007f", "a\u0085", "a\u202eb", "\u2066a", "\u200e"]],
  ])("of a registration departs from the document: %s", (member, values) => {
    const path = "/v1/merchants/prepare";
    for (const value of values)
      expect(
        isStated(path, (example) => ({ ...example, [member]: value })),
        value,
      ).toBe(false);
    for (const name of ["x", "x".repeat(32), "Çağrı's Döner \u{1f959}", "a\u200db"])
      expect(
        isStated(path, (example) => ({ ...example, name })),
        name,
      ).toBe(true);
  });

  test.each(["payTo", "asset"])("of an x402 payment departs from the document: %s", (member) => {
    for (const path of ["/x402/verify", "/x402/settle"])
      for (const value of ["", "1".repeat(31), "1".repeat(45)]) {
        const change = (example: Json) => ({
          ...example,
          paymentRequirements: { ...(example["paymentRequirements"] as Json), [member]: value },
        });
        expect(isStated(path, change), `${path} ${value}`).toBe(false);
      }
  });
});

test("what a webhook sends is what the document says of it, under headers that it names", () => {
  const escrow = sampleEscrow();
  const instance = sampleInstance();
  const events = indexedEventsOf(
    indexedEscrowOf(escrow, encodeEscrowAccount(escrow)),
    () => undefined,
  );
  const { post } = document.webhooks["settlementEvent"] ?? {};
  const schema = post?.requestBody?.content["application/json"]?.schema ?? {};
  expect(events).toHaveLength(2);
  for (const event of events) {
    const body = webhookBody(instance)(event, escrow, SAMPLE.createdAt);
    expect(documentSchemas(document.components)(schema, JSON.parse(body))).toBe("");
    const headers = webhookHeaders([`whsec_${"A".repeat(32)}`], { id: "a", atSeconds: 1, body });
    expect(post?.parameters?.map(({ name }) => name)).toEqual(Object.keys(headers));
  }
});
