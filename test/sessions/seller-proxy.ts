import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { RECEIPT_HEADER } from "../../core/protocol/calls/call-receipt.ts";
import { VOUCHER_HEADER } from "../../core/protocol/calls/call-voucher.ts";
import { HEAD_HEADER } from "../../core/protocol/calls/session-head.ts";

/** When a side is killed, seen from a request: it goes no further, is at the seller, or was answered. */
export const MOMENTS = [
  "before the seller",
  "at the seller",
  "before the answer",
  "after it",
] as const;
export type Moment = (typeof MOMENTS)[number];

/** One kill: at which request of the case, counted from 0, and when. */
export type Kill = {
  readonly who: "agent" | "seller";
  readonly at: number;
  readonly when: Moment;
  /** How long after the request went to the seller, or its answer to the agent. */
  readonly afterMs: number;
};

/** What passed between an agent and its seller in one request. */
export type Exchange = {
  readonly target: string;
  readonly voucher: string | null;
  readonly receipt: string | null;
  readonly status: number;
  /** The code of a refusal. */
  readonly code: string | null;
  readonly body: string;
};

/** An answer as it goes over the wire. */
export type WireAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** A request as an agent sent it. */
export type WireRequest = {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
};

/** What a proxy reaches beside its agent. */
export type ProxyHands = {
  /** The sellers' addresses; requests go to one after another. */
  readonly sellers: () => ReadonlyArray<string>;
  readonly killAgent: () => void;
  readonly killSeller: (index: number) => void;
  /** Told of each answer of a seller, before it is given. */
  readonly answered?: (exchange: Exchange) => void;
  /** Answers in the seller's place; null lets the request through, `drop` cuts the connection. */
  readonly instead?: (request: WireRequest) => Promise<WireAnswer | "drop" | null>;
};

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const codeIn = ({ headers, body }: WireAnswer): string | null => {
  if (!(headers["content-type"] ?? "").startsWith("application/problem+json")) return null;
  const { code } = JSON.parse(new TextDecoder().decode(body)) as { readonly code?: unknown };
  return typeof code === "string" ? code : null;
};

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Array<Uint8Array> = [];
  for await (const part of request) parts.push(part as Uint8Array);
  return Uint8Array.from(Buffer.concat(parts));
};

const PASSED = ["content-type", "accept", VOUCHER_HEADER, HEAD_HEADER];
const GIVEN = ["content-type", "cache-control", "location", RECEIPT_HEADER, HEAD_HEADER];

const chosen = (headers: Headers | IncomingMessage["headers"], names: ReadonlyArray<string>) =>
  Object.fromEntries(
    names.flatMap((name): Array<[string, string]> => {
      const value = headers instanceof Headers ? headers.get(name) : headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );

/** A proxy before the processes of one seller, which kills who it is told to, and keeps what passed. */
export const startSellerProxy = async (hands: ProxyHands, kills: ReadonlyArray<Kill> = []) => {
  const exchanges: Array<Exchange> = [];
  const seen: Array<string> = [];
  const waiting = [...kills];
  let turn = 0;

  const forwarded = async (
    request: WireRequest,
    body: Uint8Array<ArrayBuffer>,
    index: number,
  ): Promise<WireAnswer> => {
    const answer = await fetch((hands.sellers()[index] ?? "") + request.target, {
      method: request.method,
      headers: request.headers,
      redirect: "manual",
      ...(body.length === 0 ? {} : { body }),
    });
    const given = {
      status: answer.status,
      headers: chosen(answer.headers, GIVEN),
      body: await answer.bytes(),
    };
    const exchange = {
      target: `${request.method} ${request.target}`,
      voucher: request.headers[VOUCHER_HEADER] ?? null,
      receipt: given.headers[RECEIPT_HEADER] ?? null,
      status: given.status,
      code: codeIn(given),
      body: new TextDecoder().decode(given.body),
    };
    exchanges.push(exchange);
    hands.answered?.(exchange);
    return given;
  };

  const give = (response: ServerResponse, { status, headers, body }: WireAnswer): Promise<void> => {
    response.writeHead(status, { ...headers, "content-length": body.length });
    return new Promise((resolve) => {
      response.on("close", resolve);
      response.end(body, resolve);
    });
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    const { method = "GET", url: target = "/" } = incoming;
    const request = { method, target, headers: chosen(incoming.headers, PASSED) };
    const number = seen.length;
    const index = turn++ % Math.max(1, hands.sellers().length);
    const at = waiting.findIndex((each) => number >= each.at);
    const kill = at < 0 ? null : (waiting.splice(at, 1)[0] ?? null);
    seen.push(
      `${number} ${method} ${target}${kill === null ? "" : `: ${kill.who} killed ${kill.when}`}`,
    );
    const instead = (await hands.instead?.(request)) ?? null;
    if (instead === "drop") return void incoming.socket.destroy();
    if (instead !== null) return give(response, instead);
    const strike = () =>
      kill === null
        ? undefined
        : kill.who === "agent"
          ? hands.killAgent()
          : hands.killSeller(index);
    if (kill?.when === "before the seller") {
      strike();
      return void incoming.socket.destroy();
    }
    const coming = forwarded(request, body, index);
    if (kill?.when === "at the seller") {
      await Promise.race([coming.catch(() => undefined), later(kill.afterMs)]);
      strike();
    }
    const answer = await coming;
    if (kill?.when === "before the answer") {
      strike();
      return void incoming.socket.destroy();
    }
    await give(response, answer);
    if (kill?.when === "after it") {
      await later(kill.afterMs);
      strike();
    }
  };

  const server = createServer((request, response) => {
    // The seller is away, or the agent is: whoever is left sees a broken connection.
    handle(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    /** What sellers answered, in the order of their answers. */
    exchanges: exchanges as ReadonlyArray<Exchange>,
    /** Every request, with what was done to it. */
    seen: seen as ReadonlyArray<string>,
    stop: (): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

export type SellerProxy = Awaited<ReturnType<typeof startSellerProxy>>;
