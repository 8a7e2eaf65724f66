import type { SessionSeller } from "../seller/session-seller.ts";
import { bytesIn, joined, type NodeHeaders, requestOf, responseOf } from "./node-messages.ts";
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
  once(event: "close", listener: () => void): unknown;
};

type End = (body: Uint8Array) => unknown;

/** Calls the callback that `write` and `end` take last. */
const callBack = (args: ReadonlyArray<unknown>): void => {
  const callback = args.findLast((each) => typeof each === "function");
  if (callback !== undefined) queueMicrotask(callback as () => void);
};

/** The answer that an express handler writes, held back: nothing of it leaves before the call is recorded. */
const heldAnswer = (response: ExpressResponse) => {
  const { write, end, writeHead, flushHeaders } = response;
  const chunks: Array<Uint8Array> = [];
  const ended = Promise.withResolvers<Response>();
  response.write = (chunk: unknown, ...rest: ReadonlyArray<unknown>) => {
    chunks.push(bytesIn(chunk, rest[0]));
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
  response.flushHeaders = () => undefined;
  response.end = (...args: ReadonlyArray<unknown>) => {
    if (typeof args[0] !== "function") chunks.push(bytesIn(args[0], args[1]));
    ended.resolve(responseOf(response.statusCode, response.getHeaders(), joined(chunks)));
    callBack(args);
    return response;
  };
  response.once("close", () =>
    ended.reject(new Error("the connection ended before the handler did")),
  );
  return {
    answer: ended.promise,
    release: () => Object.assign(response, { write, end, writeHead, flushHeaders }),
  };
};

/** Lets an answer through again. */
const letGo = (held: ReturnType<typeof heldAnswer> | null): void => void held?.release();

const sendExpress = async (response: ExpressResponse, answer: Response): Promise<void> => {
  const body = new Uint8Array(await answer.arrayBuffer());
  for (const name of Object.keys(response.getHeaders())) response.removeHeader(name);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers)
    if (name !== "set-cookie") response.setHeader(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) response.setHeader("set-cookie", cookies);
  (response.end as End)(body);
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
 * `request.body` is the JSON that came, or the bytes. The answer is held back until it is recorded.
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
      let held: ReturnType<typeof heldAnswer> | null = null;
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
