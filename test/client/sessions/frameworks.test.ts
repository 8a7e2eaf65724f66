import { beforeEach, describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { Readable } from "node:stream";
import { callOnce } from "../../../client/sessions/agent/call-session.ts";
import type { AgentContext } from "../../../client/sessions/agent/send-call.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { answerCall } from "../../../client/sessions/seller/answer-call.ts";
import type { SellerContext } from "../../../client/sessions/seller/seller-context.ts";
import { paidCall, sellExpress, sellFastify, sellHono } from "../../../client/sessions.ts";
import type { SessionSeller } from "../../../client/sessions.ts";
import { memorySessions, SharedSessions } from "../../../client/sessions/store/memory-sessions.ts";
import { answerSink } from "../../../client/sessions/agent/take-stream.ts";
import { answerOf } from "../../../client/sessions/seller/sent-answer.ts";
import { systemClock } from "../../../client/service/requests.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import { ATTESTOR_SIGNER, KEPT, SESSION_SIGNER, TERMS } from "../../doubles/session-sides.ts";

/** The real engine over a session that the ledger is taken to show. */
const sellerOf = (): SessionSeller => {
  const context: SellerContext = {
    store: memorySessions(new SharedSessions()),
    view: { session: () => Promise.resolve({ session: KEPT }) },
    attestor: ATTESTOR_SIGNER,
    clock: { ...systemClock, nowMs: () => Number(KEPT.createdAt) * 1000 },
    onClosed: () => undefined,
  };
  return {
    terms: {} as SessionSeller["terms"],
    handle: async (request, _, handler) => {
      const { method, url, headers } = request;
      const body = new Uint8Array(await request.arrayBuffer());
      const asked = { method, url, headers, body, price: 100n };
      const paid = await answerCall(context, asked, async (call) => {
        const sent = new Request(url, { method, headers, ...(body.length ? { body } : {}) });
        return answerOf(await handler(sent, call));
      });
      return paid ?? new Response("offer", { status: 402 });
    },
    pendingCaptures: () => Promise.resolve([]),
    captureAll: () => Promise.resolve(),
    heads: () => Promise.resolve(""),
    close: () => Promise.resolve(),
  };
};

/** What a handler tells, from the test. */
class Events {
  #told: Array<string | null> = [];
  #asked: ((text: string | null) => void) | null = null;
  #cut: () => void = () => undefined;
  readonly wasCut = new Promise<void>((resolve) => {
    this.#cut = resolve;
  });
  /** The next text; null at the end. */
  readonly next = (): Promise<string | null> =>
    new Promise((resolve) => {
      const told = this.#told.shift();
      if (told === undefined) this.#asked = resolve;
      else resolve(told);
    });
  readonly cut = (): void => {
    this.#cut();
    this.tell(null);
  };
  tell(text: string | null): void {
    const asked = this.#asked;
    this.#asked = null;
    if (asked === null) this.#told.push(text);
    else asked(text);
  }
}
let events = new Events();
beforeEach(() => {
  events = new Events();
});

const BYTES = Uint8Array.of(0x89, 0x50, 0xff, 0, 13, 10);

type Running = { readonly url: string; readonly stop: () => Promise<unknown> };

const FRAMEWORKS: Readonly<Record<string, (seller: SessionSeller) => Promise<Running>>> = {
  hono: (seller) => {
    const app = new Hono();
    app.use("*", sellHono(seller, "0.01"));
    app.post("/echo", async (c) => {
      paidCall(c.req.raw).charge(40n);
      return c.json({ got: await c.req.json<unknown>() }, 201, { "x-own": "yes" });
    });
    app.get("/bytes", (c) => c.body(BYTES, 200, { "content-type": "image/png" }));
    app.get("/events", (c) =>
      streamSSE(c, async (stream) => {
        stream.onAbort(events.cut);
        for (;;) {
          const text = await events.next();
          if (text === null) break;
          await stream.writeSSE({ data: text });
        }
      }),
    );
    app.get("/crash", () => {
      throw new Error("the handler crashed");
    });
    app.onError((_, c) => c.json({ error: "crashed" }, 500));
    const running = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: app.fetch });
    return Promise.resolve({ url: running.url.origin, stop: () => running.stop(true) });
  },
  express: async (seller) => {
    const app = express();
    app.use(sellExpress(seller, "0.01"));
    app.post("/echo", (request, response) => {
      paidCall(request).charge(40n);
      response
        .status(201)
        .set("x-own", "yes")
        .json({ got: request.body as unknown });
    });
    app.get("/bytes", (_, response) => {
      response.writeHead(200, { "content-type": "image/png" });
      response.write(BYTES.slice(0, 2));
      response.end(BYTES.slice(2));
    });
    app.get("/events", async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      response.once("close", events.cut);
      for (;;) {
        const text = await events.next();
        if (text === null) break;
        response.write(`data: ${text}\n\n`);
      }
      response.end();
    });
    app.get("/crash", () => {
      throw new Error("the handler crashed");
    });
    const server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      stop: () => {
        server.closeAllConnections();
        return new Promise((resolve) => server.close(resolve));
      },
    };
  },
  fastify: async (seller) => {
    const app = Fastify();
    const sold = sellFastify(seller, "0.01");
    app.post("/echo", sold, (request, reply) => {
      paidCall(request).charge(40n);
      return reply.code(201).header("x-own", "yes").send({ got: request.body });
    });
    app.get("/bytes", sold, (_, reply) => reply.type("image/png").send(Buffer.from(BYTES)));
    app.get("/events", sold, (_, reply) => {
      const stream = Readable.from(
        (async function* () {
          for (;;) {
            const text = await events.next();
            if (text === null) return;
            yield `data: ${text}\n\n`;
          }
        })(),
      );
      reply.raw.once("close", events.cut);
      return reply.type("text/event-stream").send(stream);
    });
    app.get("/crash", sold, () => {
      throw new Error("the handler crashed");
    });
    return { url: await app.listen({ port: 0, host: "127.0.0.1" }), stop: () => app.close() };
  },
};

const agentOf = (): AgentContext => ({
  session: TERMS,
  network: NETWORK.genesisHash,
  signer: SESSION_SIGNER,
  journal: memorySessionJournal(),
  fetch,
  clock: systemClock,
});

for (const [name, start] of Object.entries(FRAMEWORKS))
  describe(`${name}, unmodified`, () => {
    test("JSON and bytes are paid for, a crash and an unpaid request are not", async () => {
      const { url, stop } = await start(sellerOf());
      const agent = agentOf();
      try {
        const json = await callOnce(agent, {
          method: "POST",
          url: `${url}/echo?a=1`,
          headers: { "content-type": "application/json" },
          body: new TextEncoder().encode('{"b":2}'),
          limit: 100n,
        });
        expect([json.status, json.price, json.headers.get("x-own")]).toEqual([201, 40n, "yes"]);
        expect(JSON.parse(new TextDecoder().decode(json.body))).toEqual({ got: { b: 2 } });
        const crash = await callOnce(agent, { url: `${url}/crash`, limit: 100n });
        expect([crash.status, crash.count]).toEqual([500, null]);
        const bytes = await callOnce(agent, { url: `${url}/bytes`, limit: 100n });
        expect([bytes.count, bytes.price, bytes.headers.get("content-type")]).toEqual([
          2,
          100n,
          "image/png",
        ]);
        expect(bytes.body).toEqual(BYTES);
        expect((await fetch(`${url}/bytes`)).status).toBe(402);
        expect((await fetch(`${url}/bytes`, { method: "HEAD" })).status).toBe(402);
      } finally {
        await stop();
      }
    });

    test("a stream comes event by event, ends with its receipt, and ends early when its reader goes", async () => {
      const { url, stop } = await start(sellerOf());
      const agent = agentOf();
      const begin = (path: string) => {
        let begun: (answer: Response) => void = () => undefined;
        const answer = new Promise<Response>((resolve) => {
          begun = resolve;
        });
        const sink = answerSink(begun);
        const whole = callOnce(agent, { url: url + path, limit: 100n, sink });
        const reader = answer.then(({ body }) => body?.getReader());
        return { whole, reader };
      };
      try {
        const { whole, reader } = begin("/events");
        const seen: Array<string> = [];
        for (const text of ["one", "two"]) {
          events.tell(text);
          const read = await (await reader)?.read();
          seen.push(new TextDecoder().decode(read?.value));
        }
        expect(seen).toEqual(["data: one\n\n", "data: two\n\n"]);
        events.tell(null);
        const { count, price, body } = await whole;
        expect([count, price, new TextDecoder().decode(body)]).toEqual([1, 100n, seen.join("")]);

        events = new Events();
        const second = begin("/events?second");
        const ended = second.whole.catch((cause: unknown) => cause);
        events.tell("one");
        await (await second.reader)?.read();
        await (await second.reader)?.cancel();
        expect(await ended).toMatchObject({ code: "stream_cut" });
        await events.wasCut;
        const again = await begin("/events?second").whole;
        expect([again.count, new TextDecoder().decode(again.body)]).toEqual([2, seen[0] ?? ""]);
        expect(again.headers.get("settlement-stream")).toBe("cut");
      } finally {
        await stop();
      }
    });
  });
