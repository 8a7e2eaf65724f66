import { afterAll, beforeAll, expect, test } from "bun:test";
import type { PaymentPayload } from "@x402/core/types";
import { connectMerchant } from "../../../client/merchant.ts";
import { systemClock } from "../../../client/service/requests.ts";
import { oneLine, paymentSteps } from "./payment-steps.ts";
import { AGENT, WALLET } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof paymentSteps>>;
beforeAll(async () => {
  x402 = await paymentSteps();
}, 60_000);
afterAll(() => x402.stop(), 60_000);

test("settling twice does it once, and a spent payment pays for nothing more", async () => {
  const payment = await x402.paymentFor(x402.requirements());
  const before = await x402.facilitator.verify(payment, x402.requirements());
  expect(before).toMatchObject({ isValid: true, payer: AGENT.address });
  const first = await x402.settle(payment, x402.requirements());
  const again = await x402.settle(payment, x402.requirements());
  expect(first).toMatchObject({ success: true, amount: "10000", extra: { state: "Pending" } });
  expect(again).toEqual(first);
  const held = String(payment.payload["escrow"]);
  const { create: _, ...bare } = payment.payload;
  expect(await x402.settle({ ...payment, payload: bare }, x402.requirements())).toMatchObject({
    success: true,
    transaction: "",
  });

  const merchant = connectMerchant(x402.service.url, { trust: x402.trust });
  const wallet = {
    publicKey: WALLET.address,
    sign: (bytes: Uint8Array) => Promise.resolve(WALLET.sign(bytes)),
  };
  const cancelled = await merchant.cancel({ escrow: held, wallet });
  expect(cancelled.signature).toBeString();
  const spent = await x402.settle(payment, x402.requirements());
  expect(spent).toMatchObject({
    success: false,
    errorReason: "payment_spent",
    extra: { escrow: held },
  });
  expect(await x402.facilitator.verify(payment, x402.requirements())).toMatchObject({
    isValid: false,
    invalidReason: "payment_spent",
  });
}, 60_000);

test("the same nonce is never paid twice: the second payment names the escrow that is there", async () => {
  const nonce = () => "an order that nobody can guess";
  const payment = {
    ...(await x402.buyerScheme({ nonce }).createPaymentPayload(2, x402.requirements())),
    accepted: x402.requirements(),
  };
  expect(await x402.settle(payment, x402.requirements())).toMatchObject({ success: true });
  const again = {
    ...(await x402.buyerScheme({ nonce }).createPaymentPayload(2, x402.requirements())),
    accepted: x402.requirements(),
  };
  const { create: _, ...same } = payment.payload;
  expect(again.payload).toEqual(same);
  expect(await x402.settle(again, x402.requirements())).toMatchObject({ success: true });
});

/** The release that a seller of its own process signs after its handler answered, in the same second as any other. */
const releaseOf = async (payment: PaymentPayload): Promise<PaymentPayload> => {
  const clock = { ...systemClock, nowMs: () => 1_795_000_000_000 };
  const members = await x402.scheme({ clock }).enrichSettlementPayload?.({
    paymentPayload: payment,
    requirements: x402.requirements(),
    declaredExtensions: {},
    phase: "after-handler",
    transportContext: {
      request: { adapter: { getMethod: () => "GET", getUrl: () => "http://127.0.0.1:1/quotes" } },
      responseBody: new TextEncoder().encode("the same answer"),
    },
  });
  return { ...payment, payload: { ...payment.payload, ...members } };
};

test("of two processes that both delivered for one payment, only the one whose proof released it is told that it is paid", async () => {
  const payment = await x402.paymentFor(x402.requirements());
  expect(await x402.settle(payment, x402.requirements())).toMatchObject({ success: true });
  const [one, other] = [await releaseOf(payment), await releaseOf(payment)];
  const paid = await x402.facilitator.settle(one, x402.requirements());
  expect(paid).toMatchObject({ success: true, amount: "10000", extra: { state: "Fulfilled" } });
  expect(await x402.facilitator.settle(one, x402.requirements())).toEqual(paid);
  const refused = await x402.facilitator.settle(other, x402.requirements());
  expect(refused).toMatchObject({ success: false, errorReason: "payment_spent" });
  oneLine(refused.errorMessage);
}, 60_000);

test("the facilitator names its programs, and has no signers", async () => {
  const { kinds, signers } = await x402.facilitator.getSupported();
  expect(signers).toEqual({});
  expect(kinds).toMatchObject(
    ["auth-capture", "delivery-session"].map((scheme) => ({
      x402Version: 2,
      scheme,
      network: x402.network,
    })),
  );
});

test("malformed JSON and malformed bodies are problems that name the mistake", async () => {
  const post = (body: string) =>
    fetch(`${x402.service.url}/x402/settle`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
  const answers = await Promise.all(['{"x402Version":2,', "{}", "[]"].map(post));
  expect(answers.map(({ status }) => status)).toEqual([400, 422, 422]);
  const [malformed] = await Promise.all(answers.map((answer) => answer.json()));
  expect(malformed).toMatchObject({ code: "malformed_json" });
});
