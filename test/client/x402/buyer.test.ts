import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { PaymentRequirements } from "@x402/core/types";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { SettlementError } from "../../../client/x402.ts";
import { oneLine, paymentSteps } from "./payment-steps.ts";
import { AGENT, WALLET } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof paymentSteps>>;
beforeAll(async () => {
  x402 = await paymentSteps();
}, 60_000);
afterAll(() => x402.stop(), 60_000);

const OTHER = localKey("merchant/skyline");

describe("a buyer refuses before it signs, in one line", () => {
  const spend = { maxPerEscrow: "0.005" };
  const cases: ReadonlyArray<
    readonly [string, object, Partial<PaymentRequirements>, string, RegExp]
  > = [
    [
      "another ledger",
      {},
      { network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" },
      "unsupported_network",
      /the ledger here is solana:/,
    ],
    [
      "another custody program",
      {},
      { extra: { custody: OTHER.address } },
      "another_custody",
      /Do not pay/,
    ],
    [
      "a mint that it does not trust",
      {},
      { asset: OTHER.address },
      "unknown_mint",
      /does not list/,
    ],
    ["more than it may spend", { spend }, {}, "spend_refused", /more than 0.005/],
    [
      "a merchant that it may not pay",
      { spend: { merchants: [OTHER.address] } },
      {},
      "spend_refused",
      /not among the merchants/,
    ],
    ["an offer that it judges bad", { judge: () => "Too dear." }, {}, "offer_refused", /Too dear/],
    [
      "another seller's offer, handed on by the site that it calls",
      { origins: ["http://127.0.0.1:2"], spend: { merchants: [WALLET.address] } },
      {},
      "offer_refused",
      /http:\/\/127\.0\.0\.1:1 is none of the origins/,
    ],
    ["a nonce that can be guessed", { nonce: () => "order-1" }, {}, "invalid_nonce", /at least 16/],
    [
      "an end that is further away than the time that is asked for",
      {},
      { maxTimeoutSeconds: 3000 },
      "invalid_requirements",
      /captureDeadline is more than maxTimeoutSeconds \(3000 s\) ahead/,
    ],
    ["a fee", {}, { extra: { maxFeeBps: 1 } }, "invalid_requirements", /nobody takes a fee/],
    ["no amount", {}, { amount: "0" }, "invalid_requirements", /amount is no number/],
    ["no wallet", {}, { payTo: "nobody" }, "invalid_requirements", /payTo is no/],
    [
      "a time to live beyond seven days",
      {},
      { maxTimeoutSeconds: 604_801 },
      "invalid_requirements",
      /maxTimeoutSeconds must be/,
    ],
  ];
  for (const [what, options, more, code, line] of cases)
    test(what, async () => {
      let signed = 0;
      const signer = {
        address: AGENT.address,
        signTransactions: () => {
          signed += 1;
          return Promise.reject(new Error("signed"));
        },
      };
      const failure: unknown = await x402
        .buyerScheme({ signer, ...options })
        .createPaymentPayload(2, x402.requirements(more))
        .catch((cause: unknown) => cause);
      if (!(failure instanceof SettlementError)) throw failure;
      expect([failure.code, signed]).toEqual([code, 0]);
      expect(failure.message).toMatch(line);
      oneLine(failure.message);
    });

  test("an origin that is none", () => {
    for (const origin of ["127.0.0.1:1", "http://127.0.0.1:1/quotes", "*", "null"])
      expect(() => x402.buyerScheme({ origins: [origin] })).toThrow(`${origin} is no origin`);
  });

  test("an offer for a request to a named origin is paid", async () => {
    const accepted = x402.requirements();
    const paid = await x402
      .buyerScheme({ origins: ["http://127.0.0.1:1"] })
      .createPaymentPayload(2, accepted);
    expect(paid.payload["create"]).toBeString();
  });

  test("a service that prepares another transaction", async () => {
    const lying = async (url: string, init: RequestInit): Promise<Response> => {
      const body = (await new Request(url, init).json()) as object;
      return fetch(url, { ...init, body: JSON.stringify({ ...body, amount_stroops: "20000" }) });
    };
    const failure: unknown = await x402
      .buyerScheme({ fetch: lying })
      .createPaymentPayload(2, x402.requirements())
      .catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(SettlementError);
    expect((failure as SettlementError).code).toBe("prepared_otherwise");
  });
});

test("a sponsor pays fee and rent, the agent the price", async () => {
  const payer = keySigner(WALLET.seed);
  const accepted = x402.requirements();
  const payment = {
    ...(await x402.buyerScheme({ payer }).createPaymentPayload(2, accepted)),
    accepted,
  };
  expect(await x402.settle(payment, accepted)).toMatchObject({
    success: true,
    payer: AGENT.address,
  });
  const escrow = await x402.escrow(String(payment.payload["escrow"]));
  expect(escrow["rent_payer"]).toBe(WALLET.address);
});
