import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { x402HTTPClient } from "@x402/fetch";
import { connect } from "../../../client/connect.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { plainDelivery } from "../../../client/x402/seller/seller-context.ts";
import type { SellerOptions } from "../../../client/x402.ts";
import { until } from "../../app/support/running-service.ts";
import { delivered, PATHS, type RunningSeller, SELLERS } from "./sellers.ts";
import { AGENT, settleResponse, WALLET, x402Fixture } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
const running: Array<RunningSeller> = [];
beforeAll(async () => {
  x402 = await x402Fixture();
}, 60_000);
afterAll(async () => {
  await Promise.all(running.map(({ stop }) => stop()));
  await x402.stop();
}, 60_000);

const wallet = keySigner(WALLET.seed);

const start = async (
  framework: string,
  options: Partial<SellerOptions> = {},
  more: { readonly maxTimeoutSeconds?: number } = {},
): Promise<string> => {
  const routes = Object.fromEntries(
    PATHS.map((path) => [`GET ${path}`, { accepts: x402.offer("$0.01", more) }]),
  );
  const seller = await SELLERS[framework]?.(routes, x402.resources(options));
  if (seller === undefined) throw new Error(`no seller ${framework}`);
  running.push(seller);
  return seller.url;
};

/** A payment for a URL as a header, not sent. */
const paymentFor = async (url: string): Promise<{ escrow: string; header: string }> => {
  const { client, escrows } = x402.buyer();
  const http = new x402HTTPClient(client);
  const unpaid = await fetch(url);
  const required = http.getPaymentRequiredResponse((name) => unpaid.headers.get(name));
  const payload = await client.createPaymentPayload(required);
  const [header = ""] = Object.values(http.encodePaymentSignatureHeader(payload));
  return { escrow: escrows[0] ?? "", header };
};

const send = (url: string, header: string) =>
  fetch(url, { headers: { "payment-signature": header } });

for (const framework of Object.keys(SELLERS))
  describe(framework, () => {
    test("one that delivers is paid, once, and the answer names packet and digest", async () => {
      const url = await start(framework);
      const buyer = x402.buyer();
      const answer = await buyer.pay(`${url}/quotes?symbol=SOL`);
      expect([answer.status, await answer.json()]).toEqual([200, { price: "1.50" }]);
      const [escrow = ""] = buyer.escrows;
      const settled = settleResponse(answer);
      const packet = `${x402.service.url}/v1/evidence/${escrow}`;
      expect(settled).toMatchObject({ success: true, payer: AGENT.address, amount: "10000" });
      expect(settled.extra).toMatchObject({ escrow, state: "Fulfilled", packet });
      expect(await x402.escrow(escrow)).toMatchObject({
        state: "Fulfilled",
        released_stroops: "10000",
      });
      const found = await until(
        "the packet is final",
        () => fetch(packet),
        ({ status }) => status === 200,
      );
      const { signature } = (await found.json()) as { signature: { digest_sha256: string } };
      expect(settled.extra?.["digest_sha256"]).toBe(signature.digest_sha256);

      const replayed = await send(`${url}/quotes?symbol=SOL`, buyer.headers[0] ?? "");
      expect([replayed.status, await replayed.json(), delivered.get(url)]).toEqual([
        200,
        { price: "1.50" },
        1,
      ]);
      expect(settleResponse(replayed)).toMatchObject({ amount: "10000", extra: { escrow } });
    }, 60_000);

    test("one that crashes in the handler, or answers 500, gives all of it back at once", async () => {
      const url = await start(framework, { wallet });
      await Promise.all(
        ["/crash", "/broken"].map(async (path) => {
          const buyer = x402.buyer();
          const answer = await buyer.pay(url + path);
          expect(answer.status).toBe(500);
          const [escrow = ""] = buyer.escrows;
          const { extra, ...settled } = settleResponse(answer);
          expect(settled).toMatchObject({ success: true, amount: "0" });
          expect(extra).toMatchObject({ escrow, state: "Refunded", refunded_stroops: "10000" });
          expect(extra?.["digest_sha256"]).toMatch(/^[0-9a-f]{64}$/);
        }),
      );
    }, 60_000);

    test("a payment for another resource is refused, and nothing is locked", async () => {
      const url = await start(framework);
      const { escrow, header } = await paymentFor(`${url}/quotes?symbol=SOL`);
      const answers = await Promise.all(
        ["/quotes?symbol=BTC", "/quotes", "/broken"].map((path) => send(url + path, header)),
      );
      expect(answers.map(({ status }) => status)).toEqual([402, 402, 402]);
      expect(delivered.get(url)).toBeUndefined();
      const answer = await fetch(`${x402.service.url}/v1/escrows/${escrow}`);
      expect(answer.status).toBe(404);
    }, 60_000);

    test("of two requests at once with one payment, one is answered, and one after it has the same answer", async () => {
      const meanwhile: Array<Response> = [];
      const url = await start(framework, {
        deliver: async (delivery) => {
          meanwhile.push(await send(`${url}/quotes`, header));
          return plainDelivery(delivery);
        },
      });
      const { header } = await paymentFor(`${url}/quotes`);
      const first = await send(`${url}/quotes`, header);
      expect([first.status, await first.json()]).toEqual([200, { price: "1.50" }]);
      expect(meanwhile.map(({ status }) => status)).toEqual([402]);
      expect(meanwhile.map((answer) => settleResponse(answer).errorReason)).toEqual([
        "payment_in_use",
      ]);
      const after = await send(`${url}/quotes`, header);
      expect([after.status, await after.json()]).toEqual([200, { price: "1.50" }]);
      expect([delivered.get(url), meanwhile.length]).toEqual([1, 1]);
    }, 60_000);
  });

/** Long enough for a busy machine: a payment of which less than a fourth of the time is left is refused as late. */
const SHORT_SECONDS = 12;

test("one that never attests has nothing, and the buyer has it back at expiry, whatever the framework", async () => {
  await Promise.all(
    Object.keys(SELLERS).map(async (framework) => {
      const more = { maxTimeoutSeconds: SHORT_SECONDS };
      const url = await start(framework, { deliver: () => null }, more);
      const buyer = x402.buyer();
      const answer = await buyer.pay(`${url}/quotes`);
      const [escrow = ""] = buyer.escrows;
      expect([framework, answer.status, await answer.json()]).toEqual([framework, 402, {}]);
      expect([framework, settleResponse(answer)]).toMatchObject([
        framework,
        {
          success: false,
          errorReason: "not_attested",
          errorMessage: `Nothing was attested for the escrow ${escrow}. It can be refunded once it has expired; nobody else can have the money.`,
          extra: { escrow },
        },
      ]);
      await until(
        "the escrow has expired",
        () => x402.escrow(escrow),
        ({ refundable }) => Boolean(refundable),
      );
      const early: unknown = await buyer.pay(`${url}/quotes`).catch(String);
      expect([framework, early]).toEqual([framework, expect.stringMatching(/has expired/)]);
      expect([framework, buyer.escrows]).toEqual([framework, [escrow]]);
      const client = connect(x402.service.url, { trust: x402.trust });
      await client.refund(escrow, { signer: keySigner(AGENT.seed) });
      expect([framework, await x402.escrow(escrow)]).toMatchObject([
        framework,
        { state: "Refunded", refunded_stroops: "10000" },
      ]);
      await buyer.pay(`${url}/quotes`);
      expect([framework, new Set(buyer.escrows).size]).toEqual([framework, 2]);
    }),
  );
}, 60_000);
