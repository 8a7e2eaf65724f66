import { describe, expect, test } from "bun:test";
import { PROOF_TEMPLATES, proofHash } from "../../../../core/domain/evidence/proof-template.ts";
import { escrow } from "../support/parties.ts";
import { dataOf, errorsOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const released = escrow("released", "Fulfilled");
const [template] = PROOF_TEMPLATES;
if (template === undefined || released.attestation === null) throw new Error("no template");
const payload = { ...template.example, task_hash: released.taskHash as string };
const attested = {
  ...released,
  attestation: { ...released.attestation, proofHash: proofHash(payload) },
};

const { service, client } = await standing();
service.seed({ escrows: [attested] });

const verify = (body: unknown, row: { readonly address: string } = attested) =>
  client.postJson(`/v1/evidence/${row.address}/verify`, body);

test("a template that is null counts as absent, as in the prepare operations", async () => {
  const left = await dataOf(await verify({ payload }));
  const nothing = await verify({ payload, template_id: null });
  expect(nothing.status).toBe(200);
  expect(await dataOf(nothing)).toEqual(left);
});

describe("a body that can be read in two ways is refused", () => {
  const text = JSON.stringify({ payload });

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
});

test("a payload is never logged", async () => {
  await verify({ payload: { ...payload, merchant_statement: "only-for-the-agent" } });
  expect(JSON.stringify(service.lines)).not.toContain("only-for-the-agent");
});
