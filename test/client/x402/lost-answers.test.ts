import { afterAll, beforeAll, expect, test } from "bun:test";
import { x402ResourceServer } from "@x402/core/server";
import type { Fetch } from "../../../client/service/fetch-directly.ts";
import { settleResponse, x402Fixture } from "./x402-fixture.ts";
import { delivered, type RunningSeller, SELLERS } from "./sellers.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
const running: Array<RunningSeller> = [];
beforeAll(async () => {
  x402 = await x402Fixture();
}, 60_000);
afterAll(async () => {
  await Promise.all(running.map(({ stop }) => stop()));
  await x402.stop();
}, 60_000);

type Settle = typeof x402.facilitator.settle;

/** A seller whose first settling after the handler goes through `fault`; `own` reaches its own service. */
const sellerWith = async (
  fault: (settle: () => ReturnType<Settle>) => ReturnType<Settle>,
  own?: Fetch,
) => {
  const { facilitator } = x402;
  let faults = 1;
  const settle: Settle = (payment, asked) => {
    const send = () => facilitator.settle(payment, asked);
    return payment.payload["type"] === "capture" && faults-- > 0 ? fault(send) : send();
  };
  const resources = new x402ResourceServer({
    settle,
    verify: (payment, asked) => facilitator.verify(payment, asked),
    getSupported: () => facilitator.getSupported(),
  }).register(x402.network, x402.scheme(own === undefined ? {} : { fetch: own }));
  const seller = await SELLERS["hono"]?.({ "GET /quotes": { accepts: x402.offer() } }, resources);
  if (seller === undefined) throw new Error("no seller");
  running.push(seller);
  return seller.url;
};

const lost = () => {
  throw new Error("fetch failed");
};

const faults: Readonly<Record<string, (settle: () => ReturnType<Settle>) => ReturnType<Settle>>> = {
  "whose answer was lost": (settle) => settle().then(lost),
  "that never arrived": async () => lost(),
  "that is not confirmed in time": async (settle) => {
    const { network } = await settle();
    return { success: false, errorReason: "settlement_pending", transaction: "", network };
  },
};

for (const [what, fault] of Object.entries(faults))
  test(`a release ${what} is settled again, so that a buyer who paid has the delivery`, async () => {
    const url = await sellerWith(fault);
    const buyer = x402.buyer();
    const answer = await buyer.pay(`${url}/quotes`);
    expect([answer.status, await answer.text()]).toEqual([200, '{"price":"1.50"}']);
    expect(settleResponse(answer)).toMatchObject({
      success: true,
      amount: "10000",
      extra: { escrow: buyer.escrows[0], state: "Fulfilled" },
    });
    expect(delivered.get(url)).toBe(1);
    const replayed = await fetch(`${url}/quotes`, {
      headers: { "payment-signature": buyer.headers[0] ?? "" },
    });
    expect([replayed.status, delivered.get(url)]).toEqual([200, 1]);
  }, 60_000);

const refused = () => ({
  success: false,
  errorReason: "blockhash_expired",
  transaction: "",
  network: x402.network,
});

test("a release that the facilitator refuses with what follows it is settled alone", async () => {
  const url = await sellerWith(() => Promise.resolve(refused()));
  const buyer = x402.buyer();
  const answer = await buyer.pay(`${url}/quotes`);
  expect([answer.status, delivered.get(url)]).toEqual([200, 1]);
  expect(await x402.escrow(buyer.escrows[0] ?? "")).toMatchObject({ state: "Fulfilled" });
}, 60_000);

test("a release that the facilitator refuses alone too is not settled again, and its answer is delivered once it is presented again", async () => {
  let refusals = 1;
  const url = await sellerWith(
    () => Promise.resolve(refused()),
    (path, init) =>
      path.endsWith("/x402/settle") && refusals-- > 0
        ? Promise.resolve(Response.json(refused()))
        : fetch(path, init),
  );
  const buyer = x402.buyer();
  const answer = await buyer.pay(`${url}/quotes`);
  expect(answer.status).toBe(402);
  expect(await x402.escrow(buyer.escrows[0] ?? "")).toMatchObject({ state: "Pending" });

  const again = await buyer.pay(`${url}/quotes`);
  expect([again.status, await again.text(), delivered.get(url)]).toEqual([
    200,
    '{"price":"1.50"}',
    1,
  ]);
  expect(new Set(buyer.escrows).size).toBe(1);
  expect(await x402.escrow(buyer.escrows[0] ?? "")).toMatchObject({ state: "Fulfilled" });
}, 60_000);
