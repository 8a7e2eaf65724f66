import { expect, test } from "bun:test";
import { type DeliveryPayload, judgeDelivery } from "../../../client/pay/delivery.ts";
import { PROOF_TEMPLATES, proofHash } from "../../../core/domain/evidence/proof-template.ts";
import { failureOf } from "../support/failure-of.ts";

const [template] = PROOF_TEMPLATES;
if (template === undefined) throw new Error("there is a template");
const taskHash = "ab".repeat(32);
const payload: DeliveryPayload = { ...template.example, task_hash: taskHash };
const attested = { proofHash: proofHash(payload), taskHash };

test("a payload with the attested hash, for this task, that fits its template and pleases the buyer is accepted", async () => {
  const seen: Array<unknown> = [];
  const judged = await judgeDelivery(payload, attested, template.id, (body) => {
    seen.push(body);
    return null;
  });
  expect(judged).toEqual({ accepted: true, reasons: [] });
  expect(seen).toEqual([payload]);
});

test("every reason against a payload is told", async () => {
  const reasons = async (...args: Parameters<typeof judgeDelivery>) =>
    (await judgeDelivery(...args)).reasons;
  expect(await reasons(payload, { ...attested, proofHash: null }, null, null)).toEqual([
    "nothing was attested",
  ]);
  expect(await reasons({ ...payload, more: 1 }, attested, null, null)).toEqual([
    "the attestor signed the hash of another payload",
  ]);
  expect(await reasons(payload, { ...attested, taskHash: "cd".repeat(32) }, null, null)).toEqual([
    "it is for another task",
  ]);
  expect(await reasons(payload, attested, "no-such-template", null)).toEqual([
    "there is no template no-such-template",
  ]);
  expect(await reasons(payload, attested, null, () => Promise.resolve("too old"))).toEqual([
    "too old",
  ]);
  const { status_code: _, ...less } = payload;
  const misfit = { ...attested, proofHash: proofHash(less) };
  expect(await reasons(less, misfit, template.id, () => "too old")).toEqual([
    "status_code is missing: an integer from 100 to 599",
    "too old",
  ]);
});

test("a check of the buyer that throws is not an acceptance", async () => {
  const judged = judgeDelivery(payload, attested, null, () => {
    throw new Error("cannot judge");
  });
  expect((await failureOf(judged)).message).toBe("cannot judge");
});

test.each([
  [{ price: 12345678901234567000 }, "/price is a number that JSON does not carry exactly"],
  [{ rows: [{ id: 2 ** 53 }] }, "/rows/0/id is a number that JSON does not carry exactly"],
  [{ note: "\ud800" }, "/note holds a lone surrogate, which has no UTF-8"],
])("a payload that can be read in two ways is not accepted: %j", async (ambiguous, reason) => {
  const judged = await judgeDelivery(ambiguous, attested, null, null);
  expect(judged.accepted).toBe(false);
  expect(judged.reasons).toContain(reason);
});

test("a number that was rounded on the way is not accepted, although its hash is the attested one", async () => {
  const rounded = { price: 12345678901234567000 };
  const judged = await judgeDelivery(
    rounded,
    { ...attested, proofHash: proofHash(rounded) },
    null,
    null,
  );
  expect(judged.accepted).toBe(false);
});
