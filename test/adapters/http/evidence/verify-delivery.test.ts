import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { proofHash } from "../../../../core/domain/evidence/proof-template.ts";
import { PROOF_TEMPLATES } from "../../../../core/domain/evidence/proof-template-catalogue.ts";
import { escrow, STRANGER } from "../support/parties.ts";
import {
  checkedClient,
  dataOf,
  errorsOf,
  jsonOf,
  makeService,
  problemOf,
} from "../support/service.ts";

const released = escrow("released", "Fulfilled");
const pending = escrow("pending");
const [template] = PROOF_TEMPLATES;
if (template === undefined || released.attestation === null) throw new Error("no template");
const payload = { ...template.example, task_hash: released.taskHash as string };
const attested = {
  ...released,
  attestation: { ...released.attestation, proofHash: proofHash(payload) },
};

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
  service.seed({ escrows: [attested, pending] });
});
afterAll(() => service.runtime.dispose());

const verify = (body: unknown, row: { readonly address: string } = attested) =>
  client.postJson(`/v1/evidence/${row.address}/verify`, body);

describe("a delivery payload compared with an escrow", () => {
  test("the attested payload matches, and the answer names the slot of the read", async () => {
    const response = await verify({ payload });
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(await jsonOf(response)).toMatchObject({
      data: {
        escrow_pda: attested.address,
        matches: true,
        task_hash_bound: true,
        payload_proof_hash: proofHash(payload),
        escrow_proof_hash: proofHash(payload),
        template: { id: "api-delivered-v1", valid: true },
      },
      context: { commitment: "confirmed" },
    });
  });

  test("a match is described as a match of the signed hash, not as a delivery", async () => {
    const { meaning } = await dataOf<{ meaning: string }>(await verify({ payload }));
    expect(meaning).toContain("A hash cannot show whether its content is true.");
  });

  test("a wrong type, a missing and an extra field, and another task are named", async () => {
    const { request_url: _, ...rest } = payload as Record<string, unknown>;
    const wrong = { ...rest, status_code: "200", extra: [1], task_hash: "00".repeat(32) };
    const data = await dataOf<{
      template: { fields: ReadonlyArray<Record<string, unknown>> };
    }>(await verify({ payload: wrong }));
    expect(data).toMatchObject({
      matches: false,
      task_hash_bound: false,
      escrow_task_hash: attested.taskHash,
      template: { valid: false },
    });
    const field = (name: string) => data.template.fields.find((each) => each.name === name);
    expect(field("status_code")).toEqual({
      name: "status_code",
      outcome: "invalid",
      expected: "an integer from 100 to 599",
      found: "string",
    });
    expect(field("request_url")).toMatchObject({ outcome: "missing", found: null });
    expect(field("extra")).toMatchObject({ outcome: "unexpected", found: "array" });
    expect(field("task_hash")).toMatchObject({ outcome: "ok" });
  });

  test("before the release there is nothing to compare with", async () => {
    expect(await dataOf(await verify({ payload }, pending))).toMatchObject({
      matches: null,
      escrow_proof_hash: null,
      task_hash_bound: false,
    });
  });

  test("a template can be requested, and only a requested one that is unknown is a 404", async () => {
    const asked = await dataOf(await verify({ payload, template_id: "ticket-issued-v1" }));
    expect(asked).toMatchObject({ template: { id: "ticket-issued-v1", valid: false } });
    expect(await problemOf(await verify({ payload, template_id: "none-v1" }))).toBe(
      "404 proof_template_not_found",
    );
    const named = { ...payload, proof_template_id: "none-v1" };
    expect(await dataOf(await verify({ payload: named }))).toMatchObject({ template: null });
  });
});

test("a template that is null counts as absent, as in the prepare operations", async () => {
  const left = await dataOf(await verify({ payload }));
  const nothing = await verify({ payload, template_id: null });
  expect(nothing.status).toBe(200);
  expect(await dataOf(nothing)).toEqual(left);
});

describe("a body that can be read in two ways is refused", () => {
  const text = JSON.stringify({ payload });

  test.each([
    ["a member twice", text.replace('"status_code":200', '"status_code":500,"status_code":200')],
    [
      "a member twice, once escaped",
      text.replace('"status_code":200', '"st\\u0061tus_code":5,"status_code":200'),
    ],
    ["a number of which a double drops some", text.replace("200", "200.00000000000000001")],
    ["a number too small for a double", text.replace("200", "1e-999")],
    ["a byte order mark", `\ufeff${text}`],
  ])("%s", async (_, body) => {
    expect(body).not.toBe(text);
    expect(await problemOf(await verify(body))).toBe("400 malformed_json");
  });

  test.each(["9007199254740993", "9007199254740992", "1e400"])(
    "the number %s, which JSON does not carry exactly, is named",
    async (number) => {
      const response = await verify(text.replace(":200,", `:${number},`));
      expect(response.status).toBe(422);
      expect(await errorsOf(response)).toEqual([
        { pointer: "/payload/status_code", detail: "is a number that JSON does not carry exactly" },
      ]);
    },
  );

  test("1.0 and 1e0 are the number 1, and hash as it does", async () => {
    const hashes = await Promise.all(
      ["1", "1.0", "1e0", "10e-1"].map(async (one) => {
        const body = `{"payload":{"count":${one}}}`;
        return (await dataOf<{ payload_proof_hash: string }>(await verify(body)))
          .payload_proof_hash;
      }),
    );
    expect(new Set(hashes)).toEqual(new Set([proofHash({ count: 1 })]));
  });

  test("a lone surrogate is named by its place", async () => {
    const response = await verify('{"payload":{"a":["\\ud800"]}}');
    expect(response.status).toBe(422);
    expect((await errorsOf(response)).map(({ pointer }) => pointer)).toEqual(["/payload/a/0"]);
  });

  test("anything but an object as payload, and any other member, is a fault", async () => {
    for (const body of [
      {},
      { payload: null },
      { payload: [] },
      { payload: "x" },
      { payload, note: 1 },
    ])
      expect((await verify(body)).status).toBe(422);
    const named = await verify({ payload, template_id: "" });
    expect(named.status).toBe(422);
    expect(await named.json()).toMatchObject({
      errors: [{ pointer: "/template_id", detail: "must have at least 1 characters" }],
    });
  });
});

test("an account that is not an escrow is a problem", async () => {
  expect(await problemOf(await verify({ payload }, { address: STRANGER }))).toBe(
    "404 escrow_not_found",
  );
  expect(await problemOf(await verify({ payload }, { address: "x" }))).toBe("422 invalid_address");
});

test("a payload is never logged", async () => {
  await verify({ payload: { ...payload, merchant_statement: "only-for-the-agent" } });
  expect(JSON.stringify(service.lines)).not.toContain("only-for-the-agent");
});
