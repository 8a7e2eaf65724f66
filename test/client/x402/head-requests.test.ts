import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { x402HTTPClient } from "@x402/core/client";
import { decodePaymentRequiredHeader } from "@x402/core/http";
import { withHead } from "../../../client/x402.ts";
import { delivered, type RunningSeller, SELLERS } from "./sellers.ts";
import { settleResponse, x402Fixture } from "./x402-fixture.ts";

let x402: Awaited<ReturnType<typeof x402Fixture>>;
const running: Array<RunningSeller> = [];
beforeAll(async () => {
  x402 = await x402Fixture();
}, 60_000);
afterAll(async () => {
  await Promise.all(running.map(({ stop }) => stop()));
  await x402.stop();
}, 60_000);

const start = async (framework: string): Promise<string> => {
  const routes = withHead({ "GET /quotes": { accepts: x402.offer() } });
  const seller = await SELLERS[framework]?.(routes, x402.resources());
  if (seller === undefined) throw new Error(`no seller ${framework}`);
  running.push(seller);
  return seller.url;
};

for (const framework of Object.keys(SELLERS))
  describe(`HEAD at ${framework}`, () => {
    test("without a payment is answered like GET, without the body, and runs no handler", async () => {
      const url = `${await start(framework)}/quotes`;
      const [get, head] = await Promise.all([fetch(url), fetch(url, { method: "HEAD" })]);
      expect([get.status, head.status]).toEqual([402, 402]);
      expect(await head.text()).toBe("");
      const offers = [get, head].map((answer) => {
        const required = decodePaymentRequiredHeader(answer.headers.get("payment-required") ?? "");
        // Each offer has times of its own.
        const times = { captureDeadline: 0, refundDeadline: 0 };
        return required.accepts.map((each) => ({ ...each, extra: { ...each.extra, ...times } }));
      });
      expect(offers[0]).toEqual(offers[1] ?? []);
      expect(delivered.get(new URL(url).origin)).toBeUndefined();
    }, 60_000);

    test("with a payment takes none, and leaves it good for GET", async () => {
      const url = `${await start(framework)}/quotes`;
      const { client, escrows } = x402.buyer();
      const http = new x402HTTPClient(client);
      const unpaid = await fetch(url);
      const required = http.getPaymentRequiredResponse((name) => unpaid.headers.get(name));
      const payment = await client.createPaymentPayload(required);
      const headers = http.encodePaymentSignatureHeader(payment);
      const head = await fetch(url, { method: "HEAD", headers });
      expect([head.status, delivered.get(new URL(url).origin)]).toEqual([402, undefined]);
      expect(settleResponse(head)).toMatchObject({
        success: false,
        errorReason: "head_request",
        errorMessage: "The request is HEAD, which delivers nothing to pay for. Send GET.",
      });
      const escrow = await fetch(`${x402.service.url}/v1/escrows/${escrows[0]}`);
      expect(escrow.status).toBe(404);
      const get = await fetch(url, { headers });
      expect([get.status, await get.json()]).toEqual([200, { price: "1.50" }]);
      expect(delivered.get(new URL(url).origin)).toBe(1);
    }, 60_000);
  });
