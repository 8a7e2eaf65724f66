import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { makeRelayClient, signatureOf, transaction } from "./relay-client.ts";
import { dataOf, jsonOf } from "../support/service.ts";
let relayed: Awaited<ReturnType<typeof makeRelayClient>>;

beforeAll(async () => {
  relayed = await makeRelayClient();
});
beforeEach(() => relayed.reset());
afterAll(() => relayed.service.runtime.dispose());

const relay: (typeof relayed)["relay"] = (...request) => relayed.relay(...request);

describe("the outcome of a signature", () => {
  const outcome = (bytes: Uint8Array) => relayed.send(`/v1/relay/${signatureOf(bytes)}`);

  test("an unknown signature is a 404 that does not say that signing again is safe", async () => {
    const response = await outcome(transaction(undefined, 14));
    expect(response.status).toBe(404);
    expect(await jsonOf(response)).toMatchObject({
      code: "transaction_not_found",
      safe_to_sign_again: false,
    });
  });

  test("it is pending once relayed, and landed once it is in a block", async () => {
    const bytes = transaction(undefined, 15);
    await relay(bytes);
    expect(await dataOf(await outcome(bytes))).toMatchObject({
      status: "pending",
      slot: null,
      last_valid_block_height: 1150,
      safe_to_sign_again: false,
    });
    relayed.service.ledger.fate = { slot: 1003n, commitment: "finalized", error: null };
    expect(await dataOf(await outcome(bytes))).toMatchObject({
      status: "landed",
      commitment: "finalized",
      slot: 1003,
      safe_to_sign_again: false,
    });
  });

  test("a text that is not a signature is a fault that names its place", async () => {
    const response = await relayed.send("/v1/relay/abc");
    expect(await jsonOf(response)).toMatchObject({ errors: [{ pointer: "/signature" }] });
  });
});
