import { RECEIPT_HEADER } from "../../../core/protocol/calls/call-receipt.ts";
import { RECEIPT_IN_STREAM } from "../../../core/protocol/calls/receipt-event.ts";
import type { SessionSeller } from "../seller/session-seller.ts";
import {
  bytesIn,
  isEvents,
  joined,
  type NodeHeaders,
  requestOf,
  responseOf,
  streamedResponse,
} from "./node-messages.ts";
import { later } from "./later.ts";
import { noteCall } from "./paid-call.ts";

/** What is used of express's request. */
export type ExpressRequest = AsyncIterable<unknown> & {
  readonly method: string;
  readonly protocol: string;
  readonly originalUrl: string;
  readonly headers: NodeHeaders;
  readonly readableEnded: boolean;
  body?: unknown;
};

/** What is used of express's response. */
export type ExpressResponse = {
  statusCode: number;
  write: unknown;
  end: unknown;
  writeHead: unknown;
  flushHeaders: unknown;
  getHeaders(): NodeHeaders;
  setHeader(name: string, value: string | ReadonlyArray<string>): unknown;
  removeHeader(name: string): unknown;
  destroy(cause?: unknown): unknown;
  once(event: "close" | "drain", listener: () => void): unknown;
};

type End = (body?: Uint8Array) => unknown;
type Write = (this: ExpressResponse, chunk: Uint8Array) => boolean;

/** Resolves once there is room for more, or nobody wants it. */
const drained = (response: ExpressResponse): Promise<void> =>
  new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });

/** Calls the callback that `write` and `end` take last. */
const callBack = (args: ReadonlyArray<unknown>): void => {
  const callback = args.findLast((each) => typeof each === "function");
  if (callback !== undefined) queueMicrotask(callback as () => void);
};

/** What a handler writes as a stream of events, from its first byte on. */
class WrittenEvents {
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  readonly body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      this.#controller = controller;
    },
    cancel: () => {
      this.#controller = null;
    },
  });

  write(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#controller?.enqueue(bytes);
  }

  end(): void {
    this.#controller?.close();
    this.#controller = null;
  }
}

/**
 * The answer that an express handler writes, held back: nothing of it leaves before the call is recorded. A stream of
 * events is an answer as soon as it begins.
 */
const heldAnswer = (response: ExpressResponse) => {
  const { write, end, writeHead, flushHeaders } = response;
  const chunks: Array<Uint8Array> = [];
  const ended = later<Response>();
  let events: WrittenEvents | null = null;
  const beginEvents = (): void => {
    if (events !== null || !isEvents(response.getHeaders())) return;
    events = new WrittenEvents();
    const headers = response.getHeaders();
    ended.resolve(streamedResponse(response.statusCode, headers, events.body));
  };
  const take = (bytes: Uint8Array): void => {
    beginEvents();
    if (events === null) chunks.push(bytes);
    else events.write(bytes);
  };
  response.write = (chunk: unknown, ...rest: ReadonlyArray<unknown>) => {
    take(bytesIn(chunk, rest[0]));
    callBack(rest);
    return true;
  };
  response.writeHead = (status: number, ...rest: ReadonlyArray<unknown>) => {
    response.statusCode = status;
    const headers = rest.findLast((each) => typeof each === "object" && each !== null) ?? {};
    for (const [name, value] of Object.entries(headers as Record<string, string>))
      response.setHeader(name, value);
    return response;
  };
  response.flushHeaders = beginEvents;
  response.end = (...args: ReadonlyArray<unknown>) => {
    if (typeof args[0] !== "function") take(bytesIn(args[0], args[1]));
    if (events === null)
      ended.resolve(responseOf(response.statusCode, response.getHeaders(), joined(chunks)));
    else events.end();
    callBack(args);
    return response;
  };
  const own = { write, end, writeHead, flushHeaders };
  let isClosed = false;
  response.once("close", () => {
    isClosed = true;
    ended.reject(new Error("the connection ended before the handler did"));
  });
  return {
    answer: ended.promise,
    own,
    isClosed: () => isClosed,
    release: () => Object.assign(response, own),
  };
};

/** Lets an answer through again. */
const letGo = (held: Held | null): void => void held?.release();

type Held = ReturnType<typeof heldAnswer>;

/** Puts status and headers of an answer into a response. */
const putHead = (response: ExpressResponse, answer: Response): void => {
  for (const name of Object.keys(response.getHeaders())) response.removeHeader(name);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers)
    if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
};

const sendExpress = async (response: ExpressResponse, answer: Response): Promise<void> => {
  const body = new Uint8Array(await answer.arrayBuffer());
  putHead(response, answer);
  (response.end as End)(body);
};

/** Sends a stream while its handler goes on writing; its own end comes once the receipt is written. */
const sendStream = async (
  response: ExpressResponse,
  answer: Response,
  { own, release, isClosed }: Held,
): Promise<void> => {
  const reader = answer.body?.getReader();
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  response.once("close", cancel);
  if (isClosed()) return cancel();
  putHead(response, answer);
  const { write, end } = response;
  release();
  (response.flushHeaders as () => void)();
  Object.assign(response, { write, end });
  try {
    for (;;) {
      const read = await reader?.read();
      if (read === undefined || read.done) break;
      if (!(own.write as Write).call(response, read.value)) await drained(response);
    }
    release();
    (response.end as End)();
  } catch (cause) {
    release();
    response.destroy(cause);
  }
};

/** The bytes of an express request's body, and what a handler gets in their place. */
const expressBody = async (request: ExpressRequest): Promise<Uint8Array> => {
  if (request.body instanceof Uint8Array) return request.body;
  if (request.readableEnded && request.body !== undefined)
    throw new Error("a body parser came first: put it behind sellExpress, or use express.raw");
  const chunks: Array<Uint8Array> = [];
  for await (const chunk of request) chunks.push(bytesIn(chunk));
  const body = joined(chunks);
  const type = String(request.headers["content-type"] ?? "");
  try {
    if (body.length > 0)
      request.body = /\bjson\b/i.test(type) ? JSON.parse(new TextDecoder().decode(body)) : body;
  } catch {
    request.body = body;
  }
  return body;
};

/**
 * A middleware for express that sells what follows it, for at most `price`. It stands before body parsers: behind it
 * `request.body` is the JSON that came, or the bytes. The answer is held back until it is recorded; a stream of events is
 * sent as it is written.
 * @example
 * import express from "express";
 * import { sellExpress } from "settlement-evidence/sessions";
 *
 * const app = express();
 * app.get("/quotes", sellExpress(seller, "0.01"), (request, response) => void response.json({ price: "1.50" }));
 */
export const sellExpress = (seller: SessionSeller, price: string) => {
  return (
    request: ExpressRequest,
    response: ExpressResponse,
    next: (error?: unknown) => void,
  ): void => {
    if (request.method === "OPTIONS") return next();
    const sell = async (): Promise<void> => {
      let held: Held | null = null;
      try {
        const body = await expressBody(request);
        const { protocol, headers, originalUrl } = request;
        const url = `${protocol}://${String(headers["host"])}${originalUrl}`;
        const answer = await seller.handle(requestOf(request, url, body), price, (_, call) => {
          noteCall(request, call);
          held = heldAnswer(response);
          next();
          return held.answer;
        });
        if (answer.headers.get(RECEIPT_HEADER) === RECEIPT_IN_STREAM && held !== null)
          return await sendStream(response, answer, held);
        letGo(held);
        await sendExpress(response, answer);
      } catch (cause) {
        letGo(held);
        next(cause);
      }
    };
    void sell();
  };
};
