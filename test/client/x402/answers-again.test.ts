import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { decodePaymentSignatureHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import { systemClock } from "../../../client/service/requests.ts";
import {
  type KeptAnswers,
  memoryClaims,
  type PaymentClaims,
  type SellerOptions,
  withHead,
} from "../../../client/x402.ts";
import { delivered, CHART, PATHS, SELLERS } from "./sellers.ts";
import { settleResponse, WALLET, x402Fixture } from "./x402-fixture.ts";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** What a client has of a paid answer before its connection drops: the status line, or all but the end of the body. */
type CutAfter = "the status line" | "a part of the body";

/**
 * A TCP proxy before a seller. It hands on everything, but drops the client's connection in the midst of each of the
 * first `cuts` answers to a request that carries a payment. Such an answer begins once the payment is settled.
 */
const cuttingProxy = async (seller: string, after: CutAfter, cuts = 1) => {
  const { port } = new URL(seller);
  const open = new Set<Socket>();
  let left = cuts;
  const server = createServer((client) => {
    const upstream = connect(Number(port), "127.0.0.1");
    let request = "";
    let answer = "";
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => open.delete(socket));
    }
    upstream.on("end", () => client.end());
    client.on("close", () => upstream.destroy());
    client.on("data", (bytes) => {
      request += bytes.toString("latin1");
      // One request a connection: a client may send one again by itself when a connection drops that it has used
      // before.
      upstream.write(
        bytes.toString("latin1").replace(/^connection: .*$/im, "connection: close"),
        "latin1",
      );
    });
    upstream.on("data", (bytes) => {
      answer += bytes.toString("latin1");
      if (left === 0 || !/^payment-signature:/im.test(request)) {
        client.write(bytes);
        return;
      }
      const head = answer.indexOf("\r\n\r\n") + 4;
      const end = after === "the status line" ? answer.indexOf("\r\n") + 2 : answer.length - 1;
      if (head < 4 || answer.length < head + 2) return;
      left -= 1;
      client.write(Buffer.from(answer.slice(0, end), "latin1"), () => client.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** How many answers are still to be cut. */
    left: () => left,
    stop: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

let x402: Awaited<ReturnType<typeof x402Fixture>>;
const running: Array<{ readonly stop: () => Promise<void> }> = [];
beforeAll(async () => {
  x402 = await x402Fixture();
}, 60_000);
afterAll(async () => {
  await Promise.all(running.map(({ stop }) => stop()));
  await x402.stop();
}, 60_000);

const start = async (
  framework: string,
  { asks = false, ...options }: Partial<SellerOptions> & { readonly asks?: boolean } = {},
) => {
  const routes = Object.fromEntries(
    PATHS.map((path) => [`GET ${path}`, { accepts: x402.offer() }]),
  );
  const seller = await SELLERS[framework]?.(withHead(routes), x402.resources(options), asks);
  if (seller === undefined) throw new Error(`no seller ${framework}`);
  running.push(seller);
  return seller.url;
};

const send = (url: string, header: string | undefined, init: RequestInit = {}) =>
  fetch(url, { ...init, headers: { "payment-signature": header ?? "" } });

const reason = (answer: Response) => settleResponse(answer).errorReason;

/** Claims and answers that outlive a seller, as a table does. A seller that is killed drops no claim. */
const sharedClaims = () => {
  const rows = new Map<string, string>();
  const claims: PaymentClaims = {
    ...memoryClaims(),
    drop: () => Promise.resolve(),
    answers: {
      keep: (escrow, answer) => Promise.resolve(void rows.set(escrow, answer)),
      find: (escrow) => Promise.resolve(rows.get(escrow) ?? null),
    },
  };
  return { rows, claims };
};

for (const framework of Object.keys(SELLERS))
  describe(framework, () => {
    const cuts: ReadonlyArray<CutAfter> = ["the status line", "a part of the body"];
    for (const after of cuts)
      test(`a buyer whose connection drops after ${after} of a settled answer asks again, has it, and pays once`, async () => {
        const seller = await start(framework);
        const proxy = await cuttingProxy(seller, after);
        running.push(proxy);
        const buyer = x402.buyer();
        const first: unknown = await buyer
          .pay(`${proxy.url}/quotes`)
          .catch((cause: unknown) => cause);
        expect([first instanceof Response, proxy.left()]).toEqual([false, 0]);
        const [escrow = ""] = buyer.escrows;
        expect(await x402.escrow(escrow)).toMatchObject({ state: "Fulfilled" });

        const answer = await buyer.pay(`${proxy.url}/quotes`);
        expect([answer.status, await answer.text()]).toEqual([200, '{"price":"1.50"}']);
        expect(answer.headers.get("content-type")).toStartWith("application/json");
        expect(answer.headers.get("cache-control")).toContain("private");
        expect(settleResponse(answer)).toMatchObject({
          success: true,
          amount: "10000",
          extra: { escrow, state: "Fulfilled" },
        });
        expect([delivered.get(proxy.url), new Set(buyer.escrows).size]).toEqual([1, 1]);

        await (await buyer.pay(`${proxy.url}/quotes`)).text();
        expect([delivered.get(proxy.url), new Set(buyer.escrows).size]).toEqual([2, 2]);
      }, 60_000);

    test("an answer that is no text is given again byte for byte, with its headers, where answerAgain is asked", async () => {
      const url = await start(framework, { asks: true });
      const buyer = x402.buyer();
      const first = await buyer.pay(`${url}/chart`);
      const again = await send(`${url}/chart`, buyer.headers[0]);
      const seen = async (answer: Response) => [
        answer.status,
        answer.headers.get("content-type"),
        answer.headers.get("x-width"),
        new Uint8Array(await answer.arrayBuffer()),
      ];
      const status = framework === "fastify" ? 203 : 200;
      expect(await seen(first)).toEqual([status, "image/png", "2", CHART]);
      expect(await seen(again)).toEqual([status, "image/png", "2", CHART]);
      expect(delivered.get(url)).toBe(1);
    }, 60_000);

    test("nobody has the answer with another nonce, for another request, by HEAD, or with a seller's member", async () => {
      const url = await start(framework, { asks: true });
      const buyer = x402.buyer();
      await buyer.pay(`${url}/quotes`);
      const [header = ""] = buyer.headers;
      const payment = decodePaymentSignatureHeader(header);
      const altered = (more: object) =>
        encodePaymentSignatureHeader({ ...payment, payload: { ...payment.payload, ...more } });
      const answers = await Promise.all([
        send(`${url}/quotes`, altered({ nonce: "0".repeat(32) })),
        send(`${url}/quotes`, altered({ agent: WALLET.address })),
        send(`${url}/quotes`, altered({ type: "capture" })),
        send(`${url}/quotes`, altered({ nonce: undefined })),
        send(`${url}/quotes?symbol=SOL`, header),
        send(`${url}/chart`, header),
        send(`${url}/quotes`, header, { method: "POST" }),
        send(`${url}/quotes`, header, { method: "HEAD" }),
      ]);
      expect(answers.map(({ status }) => status).filter((status) => status < 400)).toEqual([]);
    }, 60_000);
  });

test("an answer that x402's middleware cannot write is not given otherwise, and the refusal says what helps", async () => {
  for (const framework of ["hono", "express"]) {
    const url = await start(framework);
    const buyer = x402.buyer();
    await buyer.pay(`${url}/chart`);
    const again = await send(`${url}/chart`, buyer.headers[0]);
    expect([again.status, reason(again)]).toEqual([402, "answer_not_given"]);
    expect(settleResponse(again).errorMessage).toMatch(/Have the seller ask answerAgain/);
    expect(delivered.get(url)).toBe(1);
  }
}, 60_000);

test("a seller gives what another has answered that shared its claims and was killed, and the store holds no nonce", async () => {
  const { rows, claims } = sharedClaims();
  const [one, other] = [await start("hono", { claims }), await start("hono", { claims })];
  const buyer = x402.buyer();
  await (await buyer.pay(`${one}/quotes`)).text();
  const [header = ""] = buyer.headers;
  // Behind one name, as replicas are.
  const headers = { "payment-signature": header, host: new URL(one).host };
  const again = await fetch(`${other}/quotes`, { headers });
  expect([again.status, await again.text()]).toEqual([200, '{"price":"1.50"}']);
  expect([delivered.get(one), delivered.get(other)]).toEqual([1, undefined]);
  const { nonce } = decodePaymentSignatureHeader(header).payload;
  expect([rows.size, [...rows.values()].join().includes(String(nonce))]).toEqual([1, false]);
}, 60_000);

test("of an answer that was not kept a buyer is told that it is spent, and only the call after that pays again", async () => {
  const answers: KeptAnswers = {
    keep: () => Promise.reject(new Error("the store is full")),
    find: () => Promise.resolve(null),
  };
  const seller = await start("hono", { claims: { ...memoryClaims(), answers } });
  const proxy = await cuttingProxy(seller, "the status line");
  running.push(proxy);
  const buyer = x402.buyer();
  const call = async () => buyer.pay(`${proxy.url}/quotes`).catch(() => null);
  expect(await call()).toBeNull();
  const told = await call();
  expect(told === null ? null : [told.status, reason(told)]).toEqual([402, "payment_spent"]);
  expect([(await call())?.status, new Set(buyer.escrows).size]).toEqual([200, 2]);
}, 60_000);

test("a buyer that wrote its nonce down has a settled payment's answer in another process", async () => {
  const url = await start("hono");
  const nonce = () => "written down: 5f1c0e7a";
  await x402.buyer({ nonce }).pay(`${url}/quotes`);
  const buyer = x402.buyer({ nonce });
  const again = await buyer.pay(`${url}/quotes`);
  expect([again.status, await again.text()]).toEqual([200, '{"price":"1.50"}']);
  expect(delivered.get(url)).toBe(1);
}, 60_000);

test("a buyer whose service lags behind the seller's takes the next call for another payment, once it sees the first settled", async () => {
  const url = await start("hono");
  let late = 2;
  const lagging = async (path: string, init: RequestInit): Promise<Response> => {
    const answer = await fetch(path, init);
    if (!/\/v1\/escrows\/\w+$/.test(path) || late === 0) return answer;
    late -= 1;
    const { data, ...rest } = (await answer.json()) as { readonly data: object };
    return Response.json({ ...rest, data: { ...data, state: "Pending" } });
  };
  const clock = {
    nowMs: systemClock.nowMs,
    pause: (ms: number, signal?: AbortSignal) => systemClock.pause(ms < 45_000 ? 1 : ms, signal),
  };
  const buyer = x402.buyer({ fetch: lagging, clock });
  await buyer.pay(`${url}/quotes`);
  await buyer.pay(`${url}/quotes`);
  expect([late, delivered.get(url), new Set(buyer.escrows).size]).toEqual([0, 2, 2]);
}, 60_000);

test("in memory the oldest answers give way at a thousand, and at 64 million characters, and each goes at its time", async () => {
  let now = 0;
  const { answers } = memoryClaims(() => now);
  if (answers === undefined) throw new Error("no answers");
  for (let i = 0; i <= 1_000; i++) await answers.keep(`${i}`, "answer", 10 + i);
  const there = async (...escrows: ReadonlyArray<string>) =>
    Promise.all(escrows.map(async (each) => (await answers.find(each)) !== null));
  expect(await there("0", "1", "1000")).toEqual([false, true, true]);
  now = 12;
  expect(await there("1", "2", "3")).toEqual([false, false, true]);
  const large = "x".repeat(33_554_432);
  await answers.keep("large", large, 2_000);
  expect(await there("3", "1000", "large")).toEqual([true, true, true]);
  await answers.keep("larger", large, 2_000);
  expect(await there("3", "1000", "large", "larger")).toEqual([false, false, true, true]);
});
