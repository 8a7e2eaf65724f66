import { Cause, type Context, Effect, type Exit, Option } from "effect";
import { isShort } from "../../../core/domain/encoding/foreign-text.ts";
import { problemPage } from "../pages/shell/problem-screen.ts";
import { PAGE_POLICY, pageText } from "../pages/shell/shell.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import { INTERNAL_ERROR, problemOfFailure } from "../problems/failure-problem.ts";
import {
  type Problem,
  PROBLEM_MEDIA_TYPE,
  problemDocument,
  problemStatus,
} from "../problems/problem.ts";
import { acceptedMediaType } from "../request/accept.ts";
import type { SentTarget } from "../request/query-string.ts";
import type { RouteMeter } from "./http-metrics.ts";
import type { HttpServices } from "./http-services.ts";
import type { Opening, SharedHeaders } from "./response-headers.ts";

/** Text that is harmless in a header, a log line and a URL fragment. */
const SANE = /^[A-Za-z0-9._-]+$/;

/** The caller's own id of a request when it is a short token, otherwise a new UUID. */
const requestIdOf = (request: Request): string => {
  const given = request.headers.get("x-request-id");
  return given !== null && isShort(given) && SANE.test(given) ? given : crypto.randomUUID();
};

/** The connection a request came on. */
export type Connection = {
  /** The peer's IP address, null when not known. */
  readonly address: string | null;
  /** Keeps an idle connection open for a number of seconds, [0, 255]. */
  readonly allowSeconds: (seconds: number) => void;
  /** The operation that the bytes of the request's target match; undefined when only the URL is known. */
  readonly target?: SentTarget;
};

/** What every exchange shares. */
export type ExchangeSettings = {
  readonly context: Context.Context<HttpServices>;
  /** Runs an effect with every service. */
  readonly run: <A, E>(
    effect: Effect.Effect<A, E, HttpServices>,
    options?: Effect.RunOptions,
  ) => Promise<Exit.Exit<A, E>>;
  /** Starts an effect with every service and does not wait for it. */
  readonly fork: (effect: Effect.Effect<void>) => unknown;
  readonly shared: SharedHeaders;
  /** The HTTPS origin that the operator configured; null for none. No request changes it. */
  readonly publicUrl: string | null;
  /** The client's key in the rate limiter. */
  readonly clientOf: (exchange: Exchange) => string;
  /** Scheme, host and port under which its request reached the service. */
  readonly originOf: (exchange: Exchange) => string;
  /** Answers another request of this service, as if the client of an exchange had sent it. Never rejects. */
  readonly askFor: (exchange: Exchange, path: string, init: RequestInit) => Promise<Response>;
  /** Whether the instance has begun to shut down. */
  readonly isDraining: () => boolean;
};

/** Where an exchange is counted: a path template or `unmatched`. */
export type Route = {
  readonly path: string;
  readonly meter: RouteMeter;
  /** Whether its problems have a `message` for wallets. */
  readonly forWallets: boolean;
};

/** One request and what is known of its answer so far. */
export type Exchange = {
  readonly request: Request;
  /** Undefined for a request without a connection. */
  readonly connection: Connection | undefined;
  readonly requestId: string;
  readonly startedMs: number;
  /** Headers that its answer shares with others. */
  shared: Headers;
  /** The headers of this answer alone. They are sent with a problem too. */
  readonly headers: Record<string, string>;
  route: Route;
  /** The media type offered by the operation that the caller prefers. */
  mediaType: string;
  /** Why the answer is a problem, null when it is not. */
  cause: Cause.Cause<ApiFailure> | null;
};

const problemOf = (cause: Cause.Cause<ApiFailure>): Problem =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => INTERNAL_ERROR,
    onSome: problemOfFailure,
  });

/** Begins a request's exchange. The router sets its route later. */
export const beginExchange = (
  { isDraining, shared: { unrouted } }: ExchangeSettings,
  route: Route,
  request: Request,
  connection: Connection | undefined,
): Exchange => {
  const startedMs = performance.now();
  const requestId = requestIdOf(request);
  const headers: Record<string, string> = { "x-request-id": requestId };
  if (isDraining()) headers["connection"] = "close";
  return {
    request,
    connection,
    requestId,
    startedMs,
    shared: request.method === "POST" ? unrouted.post : unrouted.read,
    headers,
    route,
    mediaType: "",
    cause: null,
  };
};

/** Sets the route of an exchange. `opening` says whose pages may call it. */
export const enterRoute = (
  { shared: { routed } }: ExchangeSettings,
  exchange: Exchange,
  route: Route,
  opening: Opening,
): void => {
  const { method, headers } = exchange.request;
  const { post, read } = routed(headers.get("origin"), opening);
  exchange.route = route;
  exchange.shared = method === "POST" ? post : read;
};

/** The answer to an exchange. Headers in `more` replace those of the same name, except `vary`, which is appended. */
export const answerExchange = (
  { shared, headers: own }: Exchange,
  payload: BodyInit | null,
  status: number,
  more: Readonly<Record<string, string>> = {},
): Response => {
  const response = new Response(payload, { status, headers: shared });
  const { headers } = response;
  for (const name of Object.keys(own)) headers.set(name, own[name] ?? "");
  for (const name of Object.keys(more))
    if (name === "vary") headers.append(name, more[name] ?? "");
    else headers.set(name, more[name] ?? "");
  return response;
};

/** What every browser accepts where a person follows a link, and hardly a program. */
const BROWSERS_TYPE = "application/xhtml+xml";

/** Whether a person asked, with a browser. Wallets and programs get the document. */
const isForReader = ({ request, route }: Exchange): boolean => {
  const accept = request.headers.get("accept");
  return (
    request.method === "GET" &&
    !route.forWallets &&
    accept !== null &&
    accept.includes(BROWSERS_TYPE) &&
    acceptedMediaType(accept, [PROBLEM_MEDIA_TYPE, "text/html"]) === "text/html"
  );
};

/** A problem as a page. */
const problemAsPage = (exchange: Exchange, problem: Problem): Response => {
  const { code, detail, cure, errors } = problem;
  const { requestId } = exchange;
  const status = problemStatus(problem);
  const page = problemPage({ code, detail, status, requestId, cure, errors });
  return answerExchange(exchange, pageText(page, ""), status, {
    "content-type": "text/html; charset=utf-8",
    vary: "accept",
    ...problem.headers,
    ...PAGE_POLICY,
  });
};

/** The answer with the problem of a cause, which the exchange keeps for the log: a page for a browser. */
export const problemResponse = (exchange: Exchange, cause: Cause.Cause<ApiFailure>): Response => {
  exchange.cause = cause;
  const problem = problemOf(cause);
  if (isForReader(exchange)) return problemAsPage(exchange, problem);
  const document = problemDocument(problem, exchange.requestId, exchange.route.forWallets);
  return answerExchange(exchange, document, problemStatus(problem), {
    "content-type": PROBLEM_MEDIA_TYPE,
    ...problem.headers,
  });
};

/** The status in log and metrics when the client left before the answer. The same as nginx's. */
const CLIENT_GONE = 499;

/**
 * Whether the client disconnected before its request was complete, or during a read. A completed operation counts as
 * answered.
 */
const isAbandoned = ({ request, cause }: Exchange): boolean =>
  cause !== null &&
  (Cause.hasInterruptsOnly(cause) ||
    Option.exists(Cause.findErrorOption(cause), ({ _tag }) => _tag === "BodyBrokenOff")) &&
  request.signal.aborted;

/** Ends an exchange with its answer: one measurement and one log line. Only the log line shows a defect's cause. */
export const endExchange = (
  { fork }: ExchangeSettings,
  exchange: Exchange,
  response: Pick<Response, "status">,
): void => {
  const { request, requestId, startedMs, route } = exchange;
  const isGone = isAbandoned(exchange);
  const cause = isGone ? null : exchange.cause;
  const status = isGone ? CLIENT_GONE : response.status;
  const { method } = request;
  const durationMs = performance.now() - startedMs;
  route.meter(method, status, durationMs / 1000);
  const fields = {
    request_id: requestId,
    method,
    route: route.path,
    status,
    duration_ms: Math.round(durationMs * 1000) / 1000,
    ...(cause === null ? {} : { problem: problemOf(cause).code }),
  };
  fork(
    cause !== null && Cause.hasDies(cause)
      ? Effect.logError("request", fields, cause)
      : Effect.logInfo("request", fields),
  );
};
