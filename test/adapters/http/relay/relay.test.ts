import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { makeRelayClient, signatureOf, transaction } from "./relay-client.ts";
import { checkedClient, dataOf, jsonOf, makeService, problemOf } from "../support/service.ts";
import { walletAccount } from "../../../doubles/accounts.ts";
import { STRANGER } from "../support/parties.ts";

const relayed = await makeRelayClient();
beforeEach(() => relayed.reset());
afterAll(() => relayed.service.runtime.dispose());

const { relay } = relayed;

const signature = signatureOf(transaction());

describe("a transaction that is sent", () => {
  test("is a 202 with its signature, and its bytes are sent unchanged", async () => {
    const response = await relay(transaction(), { encoding: "base64" });
    expect(response.status).toBe(202);
    expect(await dataOf(response)).toMatchObject({
      signature,
      status: "submitted",
      slot: null,
      explorer_url: `https://explorer.solana.com/tx/${signature}?cluster=custom&customUrl=http%3A%2F%2F127.0.0.1%3A8899`,
    });
    expect(relayed.service.ledger.submitted).toContain(encodeBase64(transaction()));
  });

  test("a hundred times concurrently is sent once and gets a hundred equal answers", async () => {
    const bytes = transaction(undefined, 6);
    const answers = await Promise.all(
      Array.from({ length: 100 }, async () => JSON.stringify(await dataOf(await relay(bytes)))),
    );
    expect(new Set(answers).size).toBe(1);
    const sendings = relayed.service.ledger.submitted.filter(
      (sent) => sent === encodeBase64(bytes),
    );
    expect(sendings).toHaveLength(1);
  });
});

describe("shares of the queue", () => {
  test("a client with a full share is refused with a time to retry, and other clients are served", async () => {
    const own = await makeService();
    const { postJson } = await checkedClient(own);
    const keys = Array.from({ length: 4 }, (_, i) => ed25519Key(new Uint8Array(32).fill(100 + i)));
    for (const { publicKey } of keys)
      own.ledger.put(walletAccount(addressFromBytes(publicKey), 1_000_000n));
    const body = (n: number) => ({
      signed_transaction: encodeBase64(transaction(undefined, n, keys[n % 4])),
    });
    let n = 0;
    let response = await postJson("/v1/relay", body(n));
    while (response.status === 202) response = await postJson("/v1/relay", body(++n));
    expect([n, response.status]).toEqual([171, 429]);
    expect(response.headers.get("retry-after")).toBe("5");
    expect(await jsonOf(response)).toMatchObject({
      code: "relay_share_full",
      detail: "This client address already has its full share of the queue, at present 171.",
      holder: "client",
      share: 171,
    });
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body(n)),
    };
    const request = new Request("http://localhost/v1/relay", init);
    const other = { address: "192.0.2.9", allowSeconds: () => undefined };
    expect((await own.app.handle(request, other)).status).toBe(202);
    await own.runtime.dispose();
  });
});

const changed = (at: number): Uint8Array => {
  const bytes = transaction();
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  return bytes;
};

describe("a transaction that is not sent", () => {
  test.each<[string, Uint8Array | string, string]>([
    ["no base64", "***", "422 transaction_malformed"],
    [
      "base64 without padding",
      encodeBase64(transaction()).slice(0, -1),
      "422 transaction_malformed",
    ],
    ["a byte behind the end", Uint8Array.from([...transaction(), 0]), "422 transaction_malformed"],
    ["too large", new Uint8Array(1233), "422 transaction_too_large"],
    ["unsigned", transaction().fill(0, 1, 65), "422 signature_missing"],
    ["signed, then changed", changed(150), "422 signature_invalid"],
    ["for another program", transaction(STRANGER), "422 program_not_allowed"],
  ])("%s", async (_, bytes, problem) => {
    expect(await problemOf(await relay(bytes))).toBe(problem);
    expect(relayed.service.ledger.submitted).not.toContain(
      typeof bytes === "string" ? bytes : encodeBase64(bytes),
    );
  });
});

describe("Idempotency-Key", () => {
  const keyed = (bytes: Uint8Array, key: string, more: Record<string, unknown> = {}) =>
    relay(bytes, more, { "idempotency-key": key });

  test("a repetition while the first runs costs a read and no relay", async () => {
    const bytes = transaction(undefined, 14);
    const remaining = (response: Response) =>
      Number(/r=(\d+)/.exec(String(response.headers.get("ratelimit")))?.[1]);
    const readsLeft = async () => remaining(await relayed.send("/v1/relay"));
    const relaysLeft = async () => remaining(await relay("no transaction"));
    const before = { reads: await readsLeft(), relays: await relaysLeft() };
    const answers = await Promise.all([keyed(bytes, "order-14"), keyed(bytes, "order-14")]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([202, 409]);
    // The one that was sent, and the request that looks.
    expect(await relaysLeft()).toBe(before.relays - 2);
    expect(await readsLeft()).toBe(before.reads - 2);
  });
});
