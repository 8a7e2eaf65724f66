import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { paymentMiddleware, setSettlementOverrides } from "@x402/hono";
import { Hono } from "hono";
import { type PayPolicy, memorySessionJournal, payFetch } from "../../../client/index.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { memorySessions, sessionSeller, type SessionSeller } from "../../../client/sessions.ts";
import { sessionBuyer, sessionScheme } from "../../../client/x402.ts";
import { CHART, delivered, PATHS, SELLERS } from "./sellers.ts";
import { AGENT, ATTESTOR, settleResponse, WALLET, x402Fixture } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
let rpc = "";
const ends: Array<() => Promise<unknown>> = [];
beforeAll(async () => {
  x402 = await x402Fixture();
  const status = await fetch(`${x402.service.url}/v1/status`);
  const { data } = (await status.json()) as {
    readonly data: { readonly network: { readonly rpc_address: string } };
  };
  rpc = data.network.rpc_address;
}, 60_000);
afterAll(async () => {
  await Promise.all(ends.splice(0).map((end) => end()));
  await x402.stop();
}, 60_000);

/** A seller of sessions with a store of its own. */
const seller = (): SessionSeller => {
  const key = keySigner(WALLET.seed);
  const made = sessionSeller({
    service: x402.service.url,
    trust: x402.trust,
    rpc,
    merchant: WALLET.address,
    attestor: keySigner(ATTESTOR.seed),
    payer: key,
    store: memorySessions(),
  });
  ends.push(made.close);
  return made;
};

/** A shop in a framework, behind x402's own middleware. */
const shop = async (
  framework: string,
  of: SessionSeller,
  maker = sessionScheme,
): Promise<string> => {
  const facilitator = new HTTPFacilitatorClient({ url: `${x402.service.url}/x402` });
  const resources = new x402ResourceServer(facilitator).register(x402.network, maker(of));
  const accepts = {
    scheme: "delivery-session",
    network: x402.network,
    payTo: WALLET.address as string,
    price: "$0.01",
  };
  const routes = Object.fromEntries(PATHS.map((path) => [`GET ${path}`, { accepts }]));
  const running = await SELLERS[framework]?.(routes, resources);
  if (running === undefined) throw new Error(`no seller ${framework}`);
  ends.push(running.stop);
  return running.url;
};

const buyer = (more: Partial<PayPolicy> = {}, fetchWith: typeof fetch = fetch) => {
  const policy = {
    service: x402.service.url,
    trust: x402.trust,
    signer: keySigner(AGENT.seed),
    journal: memorySessionJournal,
    maxPrice: "0.01",
    budget: "1.00",
    allowRent: true,
    ...more,
  } as PayPolicy;
  const made = sessionBuyer(
    x402.trust,
    (given) => payFetch(policy, given),
    (url, init) => fetchWith(url, init),
  );
  const client = new x402Client().register(x402.network, made.scheme);
  return { ...made, pay: wrapFetchWithPayment(made.fetch, client) };
};

/** What a seller asks for a call, as x402's types have it. */
const asked = () => {
  const { network: _, ...requirements } = seller().terms.requirements(10_000n);
  return { ...requirements, network: x402.network, extra: { ...requirements.extra } };
};

/** The codes of what an answer refuses. */
const refusalsIn = (answer: Response): ReadonlyArray<unknown> => {
  const header = answer.headers.get("payment-required");
  const accepts = header === null ? [] : decodePaymentRequiredHeader(header).accepts;
  return accepts.flatMap(({ extra }) => {
    const refusal = extra["refusal"] as { readonly code: string } | undefined;
    return refusal === undefined ? [] : [refusal.code];
  });
};

for (const framework of Object.keys(SELLERS))
  describe(framework, () => {
    test("calls are made out of one session, with receipts, and what fails costs nothing", async () => {
      const url = await shop(framework, seller());
      const { pay, close } = buyer();
      for (let call = 1; call <= 3; call++) {
        const answer = await pay(`${url}/quotes?call=${call}`);
        expect([answer.status, await answer.json()]).toEqual([200, { price: "1.50" }]);
        expect(answer.headers.get("settlement-receipt")).toBeString();
        expect(settleResponse(answer)).toMatchObject({ success: true, amount: "10000" });
      }
      const chart = await pay(`${url}/chart`);
      expect(new Uint8Array(await chart.arrayBuffer())).toEqual(CHART);
      expect([(await pay(`${url}/crash`)).status, (await pay(`${url}/broken`)).status]).toEqual([
        500, 500,
      ]);
      expect(delivered.get(url)).toBe(4);
      const [closed] = await close();
      expect(closed).toMatchObject({
        failure: null,
        ended: { outcome: "settled", refusal: null, calls: 4, used: "40000" },
      });
    }, 120_000);

    test("an answer that is lost on its way is given again, and a session whose seller lost its store is closed, and another one pays", async () => {
      let current = seller();
      const handling: SessionSeller = {
        ...current,
        handle: (...given) => current.handle(...given),
      };
      const url = await shop(framework, handling);
      let losses = 0;
      const refusals: Array<unknown> = [];
      const losing = (async (...given: Parameters<typeof fetch>) => {
        const answer = await fetch(...given);
        refusals.push(...refusalsIn(answer));
        if (losses === 0 || !answer.headers.has("payment-response")) return answer;
        losses -= 1;
        throw new Error("the connection was cut");
      }) as typeof fetch;
      const { pay, close } = buyer({}, losing);
      await pay(`${url}/chart`);
      losses = 1;
      const again = await pay(`${url}/chart?again`);
      expect(new Uint8Array(await again.arrayBuffer())).toEqual(CHART);
      expect([losses, delivered.get(url), refusals]).toEqual([0, 2, []]);
      current = seller();
      const healed = await pay(`${url}/quotes`);
      expect([healed.status, await healed.json()]).toEqual([200, { price: "1.50" }]);
      expect([delivered.get(url), [...new Set(refusals)]]).toEqual([
        3,
        ["seller_is_behind", "session_restored"],
      ]);
      // What was owed of the first session is captured by the record that its buyer showed.
      const outcomes = (await close()).map(({ ended }) => [ended?.outcome, ended?.calls]);
      // One opened in the very second in which the store was found behind is taken for one of before, and serves no call.
      expect(outcomes.filter(([, calls]) => calls !== 0)).toEqual([
        ["closing", 2],
        ["settled", 1],
      ]);
    }, 120_000);
  });

test("a handler charges less by x402's own overrides, and the facilitator is never asked", async () => {
  const calls: Array<string> = [];
  const own = new HTTPFacilitatorClient({ url: `${x402.service.url}/x402` });
  const never = (what: string) => () => {
    calls.push(what);
    return Promise.reject(new Error(what));
  };
  const facilitator = {
    getSupported: () => own.getSupported(),
    verify: never("verify"),
    settle: never("settle"),
  };
  const scheme = sessionScheme(seller());
  const resources = new x402ResourceServer(facilitator).register(x402.network, scheme);
  const accepts = {
    scheme: "delivery-session",
    network: x402.network,
    payTo: WALLET.address as string,
    price: "$0.01",
  };
  const app = new Hono();
  app.use(paymentMiddleware({ "GET /metered": { accepts } }, resources));
  app.get("/metered", (c) => {
    setSettlementOverrides(c, { amount: "40%" });
    return c.text("less than was asked for");
  });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
  ends.push(() => server.stop(true));
  const { pay, close } = buyer();
  const answer = await pay(`${server.url.origin}/metered`);
  expect([answer.status, await answer.text()]).toEqual([200, "less than was asked for"]);
  expect(settleResponse(answer)).toMatchObject({ success: true, amount: "4000" });
  expect(await close()).toMatchObject([{ ended: { calls: 1, used: "4000", rest: "996000" } }]);
  expect(calls).toEqual([]);
}, 120_000);

describe("refused, and nothing runs", () => {
  const paid = async (url: string, payload: Record<string, unknown>, init: RequestInit = {}) => {
    const unpaid = await fetch(url, init.body === undefined ? {} : { method: "POST" });
    const required = decodePaymentRequiredHeader(unpaid.headers.get("payment-required") ?? "");
    const [accepted] = required.accepts;
    if (accepted === undefined) throw new Error("no offer");
    const header = encodePaymentSignatureHeader({ x402Version: 2, accepted, payload });
    return fetch(url, { ...init, headers: { "payment-signature": header } });
  };

  test("a payment without a voucher, with none of a session, and with what no header holds", async () => {
    const url = await shop("hono", seller());
    const voucher = Buffer.alloc(176).toString("base64");
    const codes = [];
    for (const payload of [{}, { voucher }, { voucher: "a\nb" }])
      codes.push(...refusalsIn(await paid(`${url}/quotes`, payload)));
    expect(codes).toEqual(["invalid_voucher", "invalid_voucher", "invalid_voucher"]);
    expect(delivered.get(url)).toBeUndefined();
  }, 60_000);

  test("a call of a session at the facilitator, by its name", async () => {
    const accepted = asked();
    const payment = { x402Version: 2, accepted, payload: { voucher: "" } };
    expect(await x402.facilitator.settle(payment, accepted)).toMatchObject({
      success: false,
      errorReason: "session_call",
    });
    expect(await x402.facilitator.verify(payment, accepted)).toMatchObject({
      isValid: false,
      invalidReason: "session_call",
    });
  });

  test("a route whose merchant is not the seller's", async () => {
    const scheme = sessionScheme(seller());
    const given = { ...asked(), payTo: AGENT.address as string };
    const kind = { x402Version: 2, scheme: "delivery-session", network: x402.network };
    const failure: unknown = await scheme
      .enhancePaymentRequirements(given, kind, [])
      .catch((cause: unknown) => cause);
    expect(failure).toMatchObject({ code: "another_merchant" });
  });
});
