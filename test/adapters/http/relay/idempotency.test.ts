import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { makeRelayClient, transaction } from "./relay-client.ts";
import { dataOf, jsonOf, problemOf } from "../support/service.ts";
let relayed: Awaited<ReturnType<typeof makeRelayClient>>;

beforeAll(async () => {
  relayed = await makeRelayClient();
});
beforeEach(() => relayed.reset());
afterAll(() => relayed.service.runtime.dispose());

const relay: (typeof relayed)["relay"] = (...request) => relayed.relay(...request);

describe("Idempotency-Key", () => {
  const keyed = (bytes: Uint8Array, key: string, more: Record<string, unknown> = {}) =>
    relay(bytes, more, { "idempotency-key": key });

  test("the same body again gets the first answer, although more is known by then", async () => {
    const bytes = transaction(undefined, 8);
    const first = await dataOf(await keyed(bytes, "order-8"));
    relayed.service.ledger.fate = { slot: 1002n, commitment: "finalized", error: null };
    const again = await keyed(bytes, "order-8");
    expect(again.status).toBe(202);
    expect(await dataOf(again)).toEqual(first);
    expect(await dataOf(await relay(bytes))).toMatchObject({ status: "finalized" });
  });

  test("another body is a 422", async () => {
    await keyed(transaction(undefined, 9), "order-9");
    const other = await keyed(transaction(undefined, 10), "order-9");
    expect(await problemOf(other)).toBe("422 idempotency_key_reused");
    const flag = await keyed(transaction(undefined, 9), "order-9", { confirm: true });
    expect(await problemOf(flag)).toBe("422 idempotency_key_reused");
  });

  test("a repetition while the first runs is a 409", async () => {
    const bytes = transaction(undefined, 11);
    const answers = await Promise.all([keyed(bytes, "order-11"), keyed(bytes, "order-11")]);
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).toEqual([202, 409]);
    const inFlight = answers.find(({ status }) => status === 409);
    expect(inFlight?.headers.get("retry-after")).toBe("5");
  });

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

  test("a refused request releases its key", async () => {
    relayed.service.ledger.isBlockhashValid = () => false;
    const bytes = transaction(undefined, 12);
    expect(await problemOf(await keyed(bytes, "order-12"))).toBe("422 blockhash_expired");
    relayed.service.ledger.isBlockhashValid = () => true;
    expect((await keyed(bytes, "order-12")).status).toBe(202);
  });

  test.each(["a b", "\u00e4", "x".repeat(256)])("%j is not a key", async (key) => {
    const response = await keyed(transaction(undefined, 13), key);
    expect(await jsonOf(response)).toMatchObject({ errors: [{ pointer: "Idempotency-Key" }] });
  });
});
