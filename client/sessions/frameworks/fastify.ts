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

/** What is used of fastify's request. */
export type FastifyCall = {
  readonly method: string;
  readonly protocol: string;
  readonly host: string;
  readonly originalUrl: string;
  readonly headers: NodeHeaders;
};

/** What is used of fastify's reply. */
export type FastifyAnswer = {
  readonly statusCode: number;
  readonly raw: { once(event: "close", listener: () => void): unknown };
  code(status: number): unknown;
  header(name: string, value: string | ReadonlyArray<string>): unknown;
  removeHeader(name: string): unknown;
  getHeaders(): NodeHeaders;
  send(payload?: unknown): unknown;
};

/** What is used of the stream of a request's body. */
type BodyStream = { on(event: "data", listener: (chunk: unknown) => void): unknown };

/** A call whose handler runs. */
type Running = {
  readonly answer: Promise<Response>;
  readonly delivered: (response: Response) => void;
};

/** A payload of `onSend` that is a stream: of the web, or of node. */
type PayloadStream =
  | ReadableStream<Uint8Array>
  | (AsyncIterable<unknown> & { destroy?(): unknown });

/** The bytes of a stream as they come. Its cancelling ends the source, also one that waits. */
const bytesOf = (payload: PayloadStream): ReadableStream<Uint8Array> => {
  if (payload instanceof ReadableStream) return payload;
  const chunks = payload[Symbol.asyncIterator]();
  return new ReadableStream({
    pull: async (controller) => {
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) return controller.close();
        const bytes = bytesIn(value);
        if (bytes.length > 0) return controller.enqueue(bytes);
      }
    },
    cancel: async () => {
      if (payload.destroy === undefined) await chunks.return?.();
      else payload.destroy();
    },
  });
};

/** A payload that leaves as it comes; null for any other. */
const streamIn = (reply: FastifyAnswer, payload: unknown): PayloadStream | null =>
  isEvents(reply.getHeaders()) &&
  typeof payload === "object" &&
  payload !== null &&
  Symbol.asyncIterator in payload
    ? (payload as PayloadStream)
    : null;

/** The payload of `onSend` as bytes: fastify gives a text, bytes, a stream, or nothing. */
const payloadBytes = async (payload: unknown): Promise<Uint8Array> => {
  if (payload === null || payload === undefined) return new Uint8Array();
  if (typeof payload === "string" || payload instanceof Uint8Array) return bytesIn(payload);
  const chunks: Array<Uint8Array> = [];
  for await (const chunk of payload as AsyncIterable<unknown>) chunks.push(bytesIn(chunk));
  return joined(chunks);
};

/** Puts status and headers of an answer into a reply, and gives its body, a stream as one. */
const putAnswer = async (
  reply: FastifyAnswer,
  answer: Response,
): Promise<Uint8Array | ReadableStream<Uint8Array>> => {
  for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
  reply.code(answer.status);
  for (const [name, value] of answer.headers) if (name !== "set-cookie") reply.header(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) reply.header("set-cookie", cookies);
  if (answer.headers.get(RECEIPT_HEADER) === RECEIPT_IN_STREAM && answer.body !== null)
    return answer.body;
  // Fastify takes node's own bytes alone.
  return Buffer.from(await answer.arrayBuffer());
};

/** The hooks of a route that is sold. */
export type FastifyHooks = {
  preParsing(
    request: FastifyCall,
    reply: FastifyAnswer,
    payload: BodyStream,
    done: (error: null, payload: never) => void,
  ): void;
  preHandler(request: FastifyCall, reply: FastifyAnswer): Promise<unknown>;
  onSend(request: FastifyCall, reply: FastifyAnswer, payload: unknown): Promise<unknown>;
};

/**
 * The options of a fastify route that is sold for at most `price`. The answer is held back until it is recorded; a
 * stream of events, given to `reply.send`, is sent as it comes.
 * @example
 * import Fastify from "fastify";
 * import { sellFastify } from "settlement-evidence/sessions";
 *
 * const app = Fastify();
 * app.get("/quotes", sellFastify(seller, "0.01"), async () => ({ price: "1.50" }));
 * (await app.inject("/quotes")).statusCode; // => 402
 */
export const sellFastify = (seller: SessionSeller, price: string): FastifyHooks => {
  const bodies = new WeakMap<object, Array<Uint8Array>>();
  const running = new WeakMap<object, Running>();
  return {
    // It listens beside fastify's parser, which begins in the same turn.
    preParsing: (request, _, payload, done) => {
      const chunks: Array<Uint8Array> = [];
      bodies.set(request, chunks);
      payload.on("data", (chunk) => chunks.push(bytesIn(chunk)));
      done(null, payload as never);
    },
    preHandler: async (request, reply) => {
      if (request.method === "OPTIONS") return undefined;
      const { protocol, host, originalUrl } = request;
      const body = joined(bodies.get(request) ?? []);
      const asked = requestOf(request, `${protocol}://${host}${originalUrl}`, body);
      const begun = later<null>();
      const answer = seller.handle(asked, price, (_, call) => {
        const { promise, resolve, reject } = later<Response>();
        noteCall(request, call);
        reply.raw.once("close", () =>
          reject(new Error("the connection ended before the handler did")),
        );
        running.set(request, { answer, delivered: resolve });
        begun.resolve(null);
        return promise;
      });
      const first = await Promise.race([answer, begun.promise]);
      return first === null ? undefined : reply.send(await putAnswer(reply, first));
    },
    onSend: async (request, reply, payload) => {
      const call = running.get(request);
      if (call === undefined) return payload;
      running.delete(request);
      const { statusCode: status } = reply;
      const stream = streamIn(reply, payload);
      call.delivered(
        stream === null
          ? responseOf(status, reply.getHeaders(), await payloadBytes(payload))
          : streamedResponse(status, reply.getHeaders(), bytesOf(stream)),
      );
      return putAnswer(reply, await call.answer);
    },
  };
};
