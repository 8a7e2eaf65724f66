import { afterAll, beforeAll, expect, test } from "bun:test";
import { type FacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { HonoAdapter, paymentMiddleware, setSettlementOverrides } from "@x402/hono";
import { Hono } from "hono";
import { answerAgain } from "../../../client/x402.ts";
import { settleResponse, x402Fixture } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
beforeAll(async () => {
  x402 = await x402Fixture();
}, 60_000);
afterAll(() => x402.stop(), 60_000);

test("a seller that settles a part returns the rest, and settling each phase twice changes nothing", async () => {
  const { facilitator } = x402;
  const answers: Array<readonly [unknown, unknown]> = [];
  const twice: FacilitatorClient = {
    getSupported: () => facilitator.getSupported(),
    verify: (payment, requirements) => facilitator.verify(payment, requirements),
    settle: async (payment, requirements) => {
      const first = await facilitator.settle(payment, requirements);
      const again = await facilitator.settle(payment, requirements);
      answers.push([first, again]);
      return again;
    },
  };
  const resources = new x402ResourceServer(twice).register(x402.network, x402.scheme());
  const app = new Hono();
  app.use(async (c, next) => (await answerAgain(resources, new HonoAdapter(c))) ?? next());
  app.use(paymentMiddleware({ "GET /metered": { accepts: x402.offer("$0.01") } }, resources));
  app.get("/metered", (c) => {
    setSettlementOverrides(c, { amount: "40%" });
    return c.text("less than was asked for");
  });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
  try {
    const buyer = x402.buyer();
    const answer = await buyer.pay(`${server.url.origin}/metered`);
    expect([answer.status, await answer.text()]).toEqual([200, "less than was asked for"]);
    expect(settleResponse(answer)).toMatchObject({
      success: true,
      amount: "4000",
      extra: { state: "PartiallyFulfilled", released_stroops: "4000", refunded_stroops: "6000" },
    });
    expect(answers).toHaveLength(2);
    for (const [first, again] of answers) expect(again).toEqual(first);

    const again = await fetch(`${server.url.origin}/metered`, {
      headers: { "payment-signature": buyer.headers[0] ?? "" },
    });
    expect([again.status, await again.text()]).toEqual([200, "less than was asked for"]);
    expect(again.headers.get("settlement-overrides")).toBeNull();
    expect(settleResponse(again)).toMatchObject({ success: true, amount: "4000" });
  } finally {
    await server.stop(true);
  }
}, 60_000);
