import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Context } from "effect";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../../core/protocol/verification/verify-evidence.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { changesOf, indexedOf } from "../../../arbitraries/index-history.ts";
import { escrow, EXPIRES_AT, merchant, STRANGER } from "../support/parties.ts";
import { checkedClient, dataOf, jsonOf, makeService, problemOf } from "../support/service.ts";

const released = escrow("released", "Fulfilled");
const partial = escrow("partial", "PartiallyFulfilled");
const refunded = escrow("refunded", "Refunded");
const pending = escrow("pending");

let service: Awaited<ReturnType<typeof makeService>>;
let client: Awaited<ReturnType<typeof checkedClient>>;

beforeAll(async () => {
  service = await makeService();
  client = await checkedClient(service);
  service.seed({ escrows: [released, partial, refunded, pending], merchants: [merchant()] });
});
afterAll(() => service.runtime.dispose());

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

test("an expired escrow that nobody refunded is pending for that reason", async () => {
  service.ledger.setClock(EXPIRES_AT);
  expect(await dataOf(await client.send(pathOf(pending)))).toMatchObject({
    settlement_decision: { status: "pending", reason: "ttl_expired_refund_available" },
  });
});

describe("revalidation", () => {
  test("a settled packet has a strong validator and answers 304 to it", async () => {
    const first = await client.send(pathOf(released));
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const listed of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await client.send(pathOf(released), { headers: { "if-none-match": listed } });
      expect([again.status, again.headers.get("etag"), await again.text()]).toEqual([
        304,
        etag,
        "",
      ]);
    }
    const other = await client.send(pathOf(released), { headers: { "if-none-match": '"x"' } });
    expect(other.status).toBe(200);
  });

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

  test("a pending packet has none, and no named one is its own", async () => {
    const response = await client.send(pathOf(pending), { headers: { "if-none-match": '"x"' } });
    expect([response.status, response.headers.get("etag")]).toEqual([200, null]);
  });

  test("a star names whatever packet there is, and none where there is none", async () => {
    const any = { headers: { "if-none-match": "*" } };
    const found = await client.send(pathOf(pending), any);
    expect([found.status, found.headers.get("etag"), await found.text()]).toEqual([304, null, ""]);
    expect(found.headers.get("vary")?.toLowerCase()).toContain("accept");
    const missing = await client.send(`/v1/evidence/${released.merchant}`, any);
    expect(missing.status).toBe(404);
  });

  test("a settled packet's data keeps its bytes while the ledger moves on", async () => {
    const before = JSON.stringify(await dataOf(await client.send(pathOf(released))));
    service.ledger.slot += 100n;
    service.ledger.setClock(EXPIRES_AT + 10_000n);
    expect(JSON.stringify(await dataOf(await client.send(pathOf(released))))).toBe(before);
  });
});

test("a download names its file, and any other word is a fault", async () => {
  const response = await client.send(`${pathOf(released)}?download=json`);
  expect(response.headers.get("content-disposition")).toBe(
    `attachment; filename="evidence-${released.address}.json"`,
  );
  const plain = await client.send(pathOf(released));
  expect(plain.headers.get("content-disposition")).toBeNull();
  expect(await response.text()).toBe(await plain.text());
  expect((await client.send(`${pathOf(released)}?download=1`)).status).toBe(422);
});

test("an account that is not an escrow has no packet", async () => {
  expect(await problemOf(await client.send(`/v1/evidence/${STRANGER}`))).toBe(
    "404 escrow_not_found",
  );
  expect(await problemOf(await client.send(pathOf(merchant())))).toBe("422 not_an_escrow");
});

test("an escrow that is confirmed and not finalized is not denied: 409 says how long it takes", async () => {
  const fresh = escrow("not finalized");
  service.seed({ escrows: [fresh] });
  service.ledger.unfinalized.add(fresh.address);
  service.ledger.finalizedBehind = 32n;
  const { slot } = service.ledger;
  expect((await client.send(`/v1/escrows/${fresh.address}`)).status).toBe(200);
  const early = await client.send(pathOf(fresh));
  expect([early.status, early.headers.get("retry-after")]).toEqual([409, "13"]);
  expect(await early.json()).toMatchObject({
    code: "not_final_yet",
    slot: Number(slot),
    commitment: "confirmed",
    finalized_slot: Number(slot - 32n),
    wait_seconds: 13,
  });
  const proof = await client.send(`${pathOf(fresh)}/proof`);
  expect(await problemOf(proof)).toBe("409 not_final_yet");
  expect(await problemOf(await client.send(`/v1/evidence/${STRANGER}`))).toBe(
    "404 escrow_not_found",
  );
  service.ledger.unfinalized.clear();
  expect((await client.send(pathOf(fresh))).status).toBe(200);
  service.ledger.finalizedBehind = 0n;
});

test("a merchant is read by its wallet and by its account", async () => {
  const { wallet, address } = merchant();
  const byWallet = await jsonOf(await client.send(`/v1/merchants/${wallet}`));
  expect(byWallet).toMatchObject({
    data: { merchant: wallet, merchant_pda: address, status: "Active", volume_usdc: "4.500000" },
    context: { commitment: "confirmed" },
  });
  expect(await jsonOf(await client.send(`/v1/merchants/${address}`))).toEqual(byWallet);
  expect(await problemOf(await client.send(`/v1/merchants/${STRANGER}`))).toBe(
    "404 merchant_not_found",
  );
  expect(await problemOf(await client.send(`/v1/merchants/${released.address}`))).toBe(
    "422 not_a_merchant",
  );
});

test("the key set holds the key that signs", async () => {
  const { keys } = await jsonOf<{ readonly keys: ReadonlyArray<{ readonly kid: string }> }>(
    await client.send("/.well-known/jwks.json"),
  );
  const packet = await jsonOf<{ readonly signature: { readonly key_id: string } }>(
    await client.send(pathOf(released)),
  );
  expect(keys.map(({ kid }) => kid)).toEqual([packet.signature.key_id]);
});
