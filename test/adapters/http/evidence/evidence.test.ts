import { describe, expect, test } from "bun:test";
import { Context } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { changesOf, indexedOf } from "../../../arbitraries/index-history.ts";
import { escrow, EXPIRES_AT, merchant } from "../support/parties.ts";
import { dataOf } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

const released = escrow("released", "Fulfilled");
const partial = escrow("partial", "PartiallyFulfilled");
const refunded = escrow("refunded", "Refunded");
const pending = escrow("pending");

const { service, client } = await standing();
service.seed({ escrows: [released, partial, refunded, pending], merchants: [merchant()] });

const pathOf = ({ address }: { readonly address: string }) => `/v1/evidence/${address}`;

test.each([
  [released, "released", "merchant_delivery_proof_verified"],
  [partial, "released", "merchant_partial_delivery_proof_verified"],
  [refunded, "refunded", "ttl_expired_without_delivery_proof"],
  [pending, "pending", "awaiting_delivery_proof"],
])(
  "the packet of an escrow verifies under the published trust document",
  async (row, status, reason) => {
    const packet = await (await client.send(pathOf(row))).text();
    const trust = await (await client.send("/.well-known/evidence-trust.json")).text();
    const policy = parseTrustPolicy(trust);
    if ("fault" in policy) throw new Error(policy.fault);
    expect(verifyEvidence(packet, policy.value).verdict).toBe("verified");
    expect(JSON.parse(packet)).toMatchObject({
      data: { version: "settlement-evidence-v2", settlement_decision: { status, reason } },
      signature: { status: "signed", algorithm: "ed25519" },
      references: { merchant: { name: "Test Quotes", status: "Active" } },
    });
  },
);

describe("revalidation", () => {
  test("references that a sync adds change a settled packet's validator, but not its signed data", async () => {
    const first = await client.send(pathOf(partial));
    const etag = first.headers.get("etag") ?? "";
    const kind = "escrow_partially_released";
    const signature = ledgerSignatureFromBytes(new Uint8Array(64).fill(5));
    const index = Context.get(service.context, IndexWriter);
    await service.runtime.runPromise(
      index.apply(
        changesOf({
          escrows: [indexedOf(partial)],
          transactions: [{ position: partial.settledSeq ?? 0n, signature, slot: 800n }],
        }),
      ),
    );
    const second = await client.send(pathOf(partial), { headers: { "if-none-match": etag } });
    expect(second.status).toBe(200);
    expect(second.headers.get("etag")).not.toBe(etag);
    const [before, after] = [await first.text(), await second.text()];
    const signed = (text: string) => text.slice(0, text.indexOf(',"references":{'));
    expect(signed(after)).toBe(signed(before));
    expect(JSON.parse(after)).toMatchObject({
      references: { transactions: [{ kind, slot: 800 }], not_found: ["escrow_created"] },
    });
  });

  test("a star names no packet where there is none", async () => {
    const any = { headers: { "if-none-match": "*" } };
    expect((await client.send(`/v1/evidence/${released.merchant}`, any)).status).toBe(404);
  });

  test("a settled packet's data keeps its bytes while the ledger moves on", async () => {
    const before = JSON.stringify(await dataOf(await client.send(pathOf(released))));
    service.ledger.slot += 100n;
    service.ledger.setClock(EXPIRES_AT + 10_000n);
    expect(JSON.stringify(await dataOf(await client.send(pathOf(released))))).toBe(before);
  });
});
