import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Case } from "./cases.ts";

/** A proxy in front of a service that does to its requests what a case says. */
export type FaultyProxy = {
  readonly url: string;
  /** Every request, as method and path, with what was done to it. */
  readonly seen: ReadonlyArray<string>;
  readonly stop: () => Promise<void>;
};

/** What a proxy reaches beside its client. */
export type ProxyHands = {
  readonly service: () => string;
  readonly killClients: () => void;
  readonly restartService: () => Promise<void>;
};

type Forwarded = {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string | null;
  readonly body: Uint8Array;
};

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Array<Uint8Array> = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Uint8Array.from(Buffer.concat(parts));
};

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const problem = (code: string) => JSON.stringify({ code, detail: "The proxy says so." });

/** Starts the proxy of one case. */
export const startProxy = async (plan: Case, hands: ProxyHands): Promise<FaultyProxy> => {
  const seen: Array<string> = [];
  let mustKill = true;
  /** Resolves when the clients are killed whose last answer was given; null before and after. */
  let killing: Promise<void> | null = null;

  const forward = async (request: IncomingMessage, body: Uint8Array<ArrayBuffer>) => {
    const { method = "GET", headers } = request;
    const passed = Object.entries(headers).flatMap(([name, value]) =>
      ["content-type", "idempotency-key", "last-event-id", "accept"].includes(name)
        ? [[name, String(value)] as const]
        : [],
    );
    const answer = await fetch(hands.service() + (request.url ?? ""), {
      method,
      headers: Object.fromEntries(passed),
      ...(method === "GET" ? {} : { body }),
    });
    return {
      status: answer.status,
      type: answer.headers.get("content-type") ?? "application/json",
      retryAfter: answer.headers.get("retry-after"),
      body: new Uint8Array(await answer.arrayBuffer()),
    };
  };

  const give = (response: ServerResponse, answer: Forwarded): Promise<void> => {
    const { status, type, retryAfter, body } = answer;
    const wait = retryAfter === null ? {} : { "retry-after": retryAfter };
    response.writeHead(status, { "content-type": type, "content-length": body.length, ...wait });
    return new Promise((resolve) => {
      response.on("close", resolve);
      response.end(body, resolve);
    });
  };

  const refuse = (response: ServerResponse, status: number, code: string) =>
    give(response, {
      status,
      type: "application/problem+json",
      retryAfter: "0",
      body: new TextEncoder().encode(problem(code)),
    });

  const meet = async (
    request: IncomingMessage,
    response: ServerResponse,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<void> => {
    const drop = () => request.socket.destroy();
    switch (plan.fault.what) {
      case "lose the request":
        drop();
        return;
      case "lose the answer":
        await forward(request, body);
        drop();
        return;
      case "cut the answer": {
        const answer = await forward(request, body);
        response.writeHead(answer.status, {
          "content-type": answer.type,
          "content-length": answer.body.length,
        });
        response.write(answer.body.subarray(0, answer.body.length / 2), drop);
        return;
      }
      case "duplicate": {
        const [, second] = [await forward(request, body), await forward(request, body)];
        return give(response, second);
      }
      case "delay":
        await later(plan.fault.delayMs);
        return give(response, await forward(request, body));
      case "answer 503":
        return refuse(response, 503, "overloaded");
      case "answer 429":
        return refuse(response, 429, "rate_limited");
      case "restart the service":
        await forward(request, body);
        await hands.restartService();
        drop();
        return;
    }
  };

  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (killing !== null) {
      // A client that got one answer more could end by itself before it is killed.
      await killing;
      request.socket.destroy();
      return;
    }
    const number = seen.length;
    const note = (done: string): number => seen.push(`${number} ${request.method} ${done}`);
    const body = await bodyOf(request);
    if (mustKill && number >= plan.kill.at) {
      mustKill = false;
      note(`${request.url}: client killed ${plan.kill.when}`);
      if (plan.kill.when === "before the service") return hands.killClients();
      const answer = await forward(request, body);
      if (plan.kill.when === "before the answer") return hands.killClients();
      const killed = Promise.withResolvers<void>();
      killing = killed.promise;
      await give(response, answer);
      await later(plan.kill.afterMs);
      hands.killClients();
      killing = null;
      killed.resolve();
      return;
    }
    if (number === plan.fault.at) {
      note(`${request.url}: ${plan.fault.what}`);
      return meet(request, response, body);
    }
    note(`${request.url}`);
    return give(response, await forward(request, body));
  };

  const server = createServer((request, response) => {
    // The service is away, or the client is: whoever is left sees a broken connection.
    handle(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
