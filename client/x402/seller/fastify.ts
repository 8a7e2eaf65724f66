import type {
  HTTPAdapter,
  HTTPProcessResult,
  HTTPRequestContext,
  RoutesConfig,
  x402HTTPResourceServer,
} from "@x402/core/server";
import { answerAgain, privately } from "./replay.ts";

/** A method and a path under which a request may have to be paid. */
type Candidate = { readonly method: string; readonly path: string };

/**
 * Path and query of a request. A target in absolute form (RFC 9112, 3.2.2) has scheme and host too, which fastify's
 * router drops.
 */
const fastifyTarget = ({ url }: FastifyRequest): string =>
  url.startsWith("/") ? url : url.replace(/^https?:\/\/.*?\//i, "/");

const pathOf = (request: FastifyRequest): string =>
  fastifyTarget(request).split(/[?#]/, 1)[0] ?? "/";

/**
 * Every method and path that fastify may have found the handler of a request by, the request's own first. Its router
 * may end a path at a semicolon, and answers HEAD with the handler of GET. x402 does neither. So payment is required
 * when any of them is a paid route.
 */
const fastifyCandidates = (request: FastifyRequest): ReadonlyArray<Candidate> => {
  const path = pathOf(request);
  const paths = [path, path.split(";", 1)[0] ?? path, request.routeOptions?.url ?? path];
  const methods = request.method === "HEAD" ? ["HEAD", "GET"] : [request.method];
  return methods.flatMap((method) => paths.map((each) => ({ method, path: each })));
};

/**
 * The routes of an x402 server, with HEAD priced wherever GET is. Express and hono answer HEAD with the handler of GET,
 * and x402 compares methods: without this the handler runs unpaid. A route that names no method is priced for all of
 * them already.
 * @example
 * import { withHead } from "settlement-evidence/x402";
 *
 * Object.keys(withHead({ "GET /quotes": { accepts: price } })); // => ["GET /quotes", "HEAD /quotes"]
 */
export const withHead = (routes: RoutesConfig): RoutesConfig => {
  if ("accepts" in routes) return routes;
  return Object.fromEntries(
    Object.entries(routes).flatMap(([pattern, route]) => {
      const head = pattern.replace(/^get(?=\s)/i, "HEAD");
      return head in routes
        ? [[pattern, route]]
        : [
            [pattern, route],
            [head, route],
          ];
    }),
  );
};

/** What the adapter uses of fastify's request. */
export type FastifyRequest = {
  readonly method: string;
  /** The request's target: path and query. */
  readonly url: string;
  /** The route that fastify found; undefined where there is none. */
  readonly routeOptions?: { readonly url?: string | undefined };
  readonly protocol: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>;
  readonly query: unknown;
  readonly body?: unknown;
};

/** What the adapter uses of fastify's reply. */
export type FastifyReply = {
  readonly statusCode: number;
  code(status: number): unknown;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  getHeaders(): Readonly<Record<string, number | string | ReadonlyArray<string> | undefined>>;
  send(payload?: unknown): unknown;
};

/** What the adapter uses of a fastify instance: `addHook`. */
export type FastifyApp = { addHook(name: never, hook: never): unknown };

/** `addHook` as the adapter calls it; fastify's own overloads name its types. */
type AddHook = (
  name: "preHandler" | "onError" | "onSend",
  hook: (request: FastifyRequest, reply: FastifyReply, what: unknown) => Promise<unknown>,
) => unknown;

const decoded = (path: string): string => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};

/**
 * A fastify request as x402's `HTTPAdapter`.
 * @example
 * import Fastify from "fastify";
 * import { fastifyAdapter } from "settlement-evidence/x402";
 *
 * const app = Fastify();
 * app.get("/quotes", async (request) => fastifyAdapter(request).getPath());
 * (await app.inject("/quotes")).body; // => "/quotes"
 */
export const fastifyAdapter = (request: FastifyRequest): HTTPAdapter => {
  const header = (name: string): string | undefined => {
    const value = request.headers[name.toLowerCase()];
    return typeof value === "object" ? value[0] : value;
  };
  const query = (request.query ?? {}) as Record<string, string | Array<string>>;
  return {
    getHeader: header,
    getMethod: () => request.method,
    getPath: () => pathOf(request),
    getUrl: () => `${request.protocol}://${request.host}${fastifyTarget(request)}`,
    getAcceptHeader: () => header("accept") ?? "",
    getUserAgent: () => header("user-agent") ?? "",
    getQueryParams: () => query,
    getQueryParam: (name) => query[name],
    getBody: () => request.body,
  };
};

type Verified = Extract<HTTPProcessResult, { readonly type: "payment-verified" }>;
/** A verified payment whose handler is running, and the error that the handler threw. */
type Delivering = Verified & { readonly context: HTTPRequestContext; error?: unknown };

/** The payload of `onSend` as bytes: fastify gives a text, bytes, a stream, or nothing. */
const bytesOf = async (payload: unknown): Promise<Buffer> => {
  if (payload === null || payload === undefined) return Buffer.alloc(0);
  if (typeof payload === "string" || payload instanceof Uint8Array) return Buffer.from(payload);
  const chunks: Array<Uint8Array> = [];
  for await (const chunk of payload as AsyncIterable<Uint8Array | string>)
    chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
};

const textHeaders = (reply: FastifyReply): Record<string, string> =>
  Object.fromEntries(
    Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  );

const putHeaders = (reply: FastifyReply, headers: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(headers)) reply.header(name, value);
};

const cacheControl = (reply: FastifyReply): string | null => {
  const value = reply.getHeaders()["cache-control"];
  return value === undefined ? null : String(value);
};

/** Cancels the payment after its handler failed, and returns the answer that says so. */
const cancelled = async (
  server: x402HTTPResourceServer,
  reply: FastifyReply,
  { cancellationDispatcher, beforeHandlerSettlement, paymentPayload, error }: Delivering,
): Promise<void> => {
  const cancelling = await cancellationDispatcher.cancel(
    error === undefined
      ? { reason: "handler_failed", responseStatus: reply.statusCode }
      : { reason: "handler_threw", error },
  );
  const headers = server.createFailurePathSettlementHeaders(
    cancelling,
    beforeHandlerSettlement,
    paymentPayload,
    cacheControl(reply),
  );
  putHeaders(reply, headers ?? {});
};

/** The body to send for an answer that is paid for: the handler's, or x402's refusal when the settlement fails. */
const settled = async (
  server: x402HTTPResourceServer,
  reply: FastifyReply,
  payment: Delivering,
  body: Buffer,
): Promise<Buffer | string> => {
  const result = await server.processSettlement(
    payment.paymentPayload,
    payment.paymentRequirements,
    payment.declaredExtensions,
    // x402's type of it has no status; the scheme reads it.
    Object.assign(
      { request: payment.context, responseBody: body, responseHeaders: textHeaders(reply) },
      { responseStatus: reply.statusCode },
    ),
    undefined,
    payment.beforeHandlerSettlement,
  );
  if (result.success) {
    putHeaders(reply, result.headers);
    reply.header("cache-control", privately(cacheControl(reply)));
    return body;
  }
  const { status, headers, body: refusal, isHtml } = result.response;
  reply.code(status);
  reply.removeHeader("content-length");
  reply.header("content-type", "application/json; charset=utf-8");
  putHeaders(reply, headers);
  return isHtml === true && typeof refusal === "string" ? refusal : JSON.stringify(refusal ?? {});
};

/**
 * Sells the routes of an x402 HTTP server on a fastify instance. Call it before the routes are declared. Answers are
 * held until they are settled, so a stream is sent whole.
 * @example
 * import { x402HTTPResourceServer } from "@x402/core/server";
 * import Fastify from "fastify";
 * import { payFastify } from "settlement-evidence/x402";
 *
 * const app = Fastify();
 * payFastify(app, new x402HTTPResourceServer(resources, { "GET /quotes": { accepts: price } }));
 * app.get("/quotes", async () => ({ price: "1.50" }));
 * await app.ready();
 */
export const payFastify = (app: FastifyApp, server: x402HTTPResourceServer): void => {
  const delivering = new WeakMap<object, Delivering>();
  let ready: Promise<void> | null = null;
  /** If the facilitator does not answer, the next request tries again. */
  const initialize = (): Promise<void> => {
    ready ??= server.initialize().catch((cause: unknown) => {
      ready = null;
      throw cause;
    });
    return ready;
  };

  const addHook = app.addHook.bind(app) as AddHook;

  addHook("preHandler", async (request, reply) => {
    const adapter = fastifyAdapter(request);
    const header = adapter.getHeader("payment-signature");
    const paid = header === undefined ? {} : { paymentHeader: header };
    const contextOf = ({ method, path }: Candidate): HTTPRequestContext =>
      Object.assign({ adapter, path, decodedPath: decoded(path), method }, paid);
    const context = fastifyCandidates(request)
      .map(contextOf)
      .find((each) => server.requiresPayment(each));
    if (context === undefined) return undefined;
    await initialize();
    const again = await answerAgain(server.server, adapter);
    if (again !== null) {
      reply.code(again.status);
      putHeaders(reply, Object.fromEntries(again.headers));
      return reply.send(Buffer.from(await again.arrayBuffer()));
    }
    const result = await server.processHTTPRequest(context);
    if (result.type === "payment-verified") delivering.set(request, { ...result, context });
    if (result.type !== "payment-error") return undefined;
    const { status, headers, body, isHtml } = result.response;
    reply.code(status);
    putHeaders(reply, headers);
    return reply.send(isHtml === true ? body : JSON.stringify(body ?? {}));
  });

  addHook("onError", (request, _, error) => {
    const payment = delivering.get(request);
    if (payment !== undefined) payment.error = error;
    return Promise.resolve();
  });

  addHook("onSend", async (request, reply, payload) => {
    const payment = delivering.get(request);
    if (payment === undefined) return payload;
    delivering.delete(request);
    if (reply.statusCode >= 400) {
      await cancelled(server, reply, payment);
      return payload;
    }
    return settled(server, reply, payment, await bytesOf(payload));
  });
};
