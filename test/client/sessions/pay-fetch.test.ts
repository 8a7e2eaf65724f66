import { describe, expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { payFetch } from "../../../client/sessions/agent/pay-fetch.ts";
import type { PayPolicy } from "../../../client/sessions/agent/pay-policy.ts";
import { offerAnswer } from "../../../client/sessions/seller/offer.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { type Address } from "../../../core/domain/address.ts";
import { ATTESTOR, countingSigner, MERCHANT, MINT, TRUST } from "../support/fake-service.ts";
import { failureOf } from "../support/failure-of.ts";

const URL = "https://api.example.com/quotes?symbol=SOL";
const policy = policyIn(TRUST);

const offered = (price = 10_000n, more: { merchant?: Address; mint?: Address } = {}) =>
  offerAnswer({
    taken: { merchant: MERCHANT, mint: MINT, attestor: ATTESTOR, ...more },
    policy,
    url: URL,
    price,
  });

/** An agent whose service is never asked, before sellers that answer as `answer` says. */
const paying = (answer: () => Response | Promise<Response>, more: object = {}) => {
  const { signer, signed } = countingSigner();
  const asked: Array<{ readonly url: string; readonly voucher: boolean }> = [];
  const options = {
    service: "http://service.test",
    trust: TRUST,
    signer,
    maxPrice: "0.05",
    budget: "10.00",
    lamportsPerUnit: 6.7,
    journal: memorySessionJournal,
    fetch: () => {
      throw new Error("the service was asked");
    },
    ...more,
  } as PayPolicy;
  const pay = payFetch(options, async (url, init) => {
    asked.push({ url, voucher: new Headers(init.headers).has("settlement-voucher") });
    return answer();
  });
  return { pay, asked, signed };
};

describe("what is not paid for is given as it is", () => {
  test.each<[string, () => Response]>([
    ["a free answer", () => new Response("free")],
    ["402 without an offer", () => new Response("pay", { status: 402 })],
    [
      "an offer of another status",
      () => new Response("x", { status: 403, headers: offered().headers }),
    ],
    [
      "an offer of no form",
      () => new Response("pay", { status: 402, headers: { "payment-required": "!" } }),
    ],
    ["an offer in a mint that nobody listed", () => offered(1n, { mint: localKey("m").address })],
    [
      "an offer on another ledger",
      () =>
        offerAnswer({
          taken: { merchant: MERCHANT, mint: MINT, attestor: ATTESTOR },
          policy: { ...policy, genesisHash: localKey("another ledger").address },
          url: URL,
          price: 1n,
        }),
    ],
  ])("%s", async (_, answer) => {
    const { pay, asked } = paying(answer);
    const [given, wanted] = [await pay(URL), answer()];
    expect([given.status, await given.text()]).toEqual([wanted.status, await wanted.text()]);
    expect(asked).toEqual([{ url: URL, voucher: false }]);
    expect(await pay.close()).toEqual([]);
  });
});

describe("what the policy does not allow is refused before anything is signed", () => {
  test.each<[string, string, object, bigint]>([
    ["a price above the limit", "offer_refused", {}, 50_001n],
    ["a merchant that is not listed", "offer_refused", { merchants: [ATTESTOR] }, 10_000n],
    [
      "an origin that is not listed",
      "offer_refused",
      { origins: ["https://other.example"] },
      10_000n,
    ],
    [
      "a budget below the price",
      "offer_refused",
      { budget: "0.001", allowRent: true, lamportsPerUnit: undefined },
      10_000n,
    ],
    ["rent above 5 % of the budget", "rent_refused", { budget: "4.00" }, 10_000n],
    ["no session at all", "too_many_sessions", { maxSessions: 0 }, 10_000n],
  ])("%s", async (_, code, more, price) => {
    const { pay, asked, signed } = paying(() => offered(price), more);
    expect((await failureOf(pay(URL))).code).toBe(code);
    expect([asked.length, signed()]).toEqual([1, 0]);
  });

  test("a policy without a word on rent, or of too short sessions", () => {
    const make = (more: object) => () => paying(() => offered(), more);
    expect(make({ lamportsPerUnit: undefined })).toThrow("rent");
    expect(make({ ttl: 599 })).toThrow("600 s");
    expect(make({ origins: ["api.example.com"] })).toThrow("no origin");
  });

  test("an offer behind a redirect", async () => {
    const { pay, signed } = paying(() => {
      const answer = offered();
      Object.defineProperty(answer, "redirected", { value: true });
      Object.defineProperty(answer, "url", { value: "https://other.example/quotes" });
      return answer;
    });
    const { code, message } = await failureOf(pay(URL));
    expect([code, signed()]).toEqual(["redirected", 0]);
    expect(message).toContain("https://other.example");
  });
});
