import { Cause, type Context, Effect, Exit, Option } from "effect";
import type { ClientKey } from "./client-address.ts";
import { routeMeter } from "./http-metrics.ts";
import type { HttpServices } from "./http-services.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import { INTERNAL_ERROR, problemOfFailure } from "../problems/failure-problem.ts";
import {
  PROBLEM_MEDIA_TYPE,
  type Problem,
  problemDocument,
  problemStatus,
} from "../problems/problem.ts";
import { requestIdOf } from "../request/request-id.ts";
import { baseHeaders, corsHeaders } from "./response-headers.ts";
import type { SentTarget } from "../request/sent-target.ts";

/** The connection a request came on. */
export type Connection = {
  /** The peer's IP address, null when not known. */
  readonly address: string | null;
  /** Keeps the connection open for so many seconds, [0, 255], while nothing moves on it. */
  readonly allowSeconds: (seconds: number) => void;
  /** What the request's target matches as it was sent; undefined where only the URL is known. */
  readonly target?: SentTarget;
};

/** What every exchange shares. */
export type ExchangeSettings = {
  readonly context: Context.Context<HttpServices>;
  readonly corsOrigins: ReadonlyArray<string>;
  readonly clientKey: ClientKey;
  /** Undefined for a request that came on none. */
  readonly connectionOf: (request: Request) => Connection | undefined;
  /** Scheme, host and port under which a request reached the service. */
  readonly originOf: (request: Request) => string;
  /** Whether the instance has begun to shut down. */
  readonly isDraining: () => boolean;
};

/** An answer, decided. */
type Reply = {
  readonly status: number;
  readonly body: string | ReadableStream<Uint8Array> | null;
  readonly headers: Readonly<Record<string, string>>;
};

/** A request on its way: `headers` go with the answer whatever it will be. */
export type Incoming = {
  readonly request: Request;
  /** As the router decoded them: absent where the path has none. */
  readonly params: Readonly<Record<string, string | null>> | undefined;
  readonly headers: Record<string, string>;
};

/** What a route does with a request. */
export type Decide = (incoming: Incoming) => Effect.Effect<Reply, ApiFailure, HttpServices>;

/** Answers a request whose path gave these parameters. Never rejects. */
export type Exchange = (request: Request, params: Incoming["params"]) => Promise<Response>;

const problemOf = (cause: Cause.Cause<ApiFailure>): Problem =>
  Option.match(Cause.findErrorOption(cause), {
    onNone: () => INTERNAL_ERROR,
    onSome: problemOfFailure,
  });

/** One line a request; what a defect was stands here and nowhere else. */
const logLine = (
  fields: Readonly<Record<string, unknown>>,
  exit: Exit.Exit<Reply, ApiFailure>,
): Effect.Effect<void> =>
  Exit.isFailure(exit) && Cause.hasDies(exit.cause)
    ? Effect.logError("request", fields, exit.cause)
    : Effect.logInfo("request", fields);

const respond = (
  exit: Exit.Exit<Reply, ApiFailure>,
  requestId: string,
  headers: Record<string, string>,
): Response => {
  if (Exit.isSuccess(exit)) {
    const { status, body, headers: own } = exit.value;
    const vary = [headers["vary"], own["vary"]].filter((names) => names !== undefined);
    Object.assign(headers, own, vary.length === 0 ? {} : { vary: vary.join(", ") });
    return new Response(body, { status, headers });
  }
  const problem = problemOf(exit.cause);
  return new Response(problemDocument(problem, requestId), {
    status: problemStatus(problem),
    headers: Object.assign(headers, { "content-type": PROBLEM_MEDIA_TYPE }, problem.headers),
  });
};

/**
 * Turns what a route decides into responses: problem documents, the headers of every answer, one log
 * line, one measurement. `isOpen` says whether pages of any origin may call it where `*` is configured.
 */
export const makeExchange = (
  settings: ExchangeSettings,
  route: { readonly path: string; readonly isOpen: (request: Request) => boolean },
  decide: Decide,
): Exchange => {
  const run = Effect.runPromiseExitWith(settings.context);
  const meter = routeMeter(settings.context, route.path);

  return async (request, params) => {
    const startedMs = performance.now();
    const { method } = request;
    const requestId = requestIdOf(request);
    const headers = Object.assign(
      baseHeaders(method, requestId),
      corsHeaders(settings.corsOrigins, request.headers.get("origin"), route.isOpen(request)),
    );
    if (settings.isDraining()) headers["connection"] = "close";
    // Only a read ends with its client's interest; what a POST began is finished.
    const options = method === "POST" ? undefined : { signal: request.signal };
    const exit = await run(decide({ request, params, headers }), options);
    const response = respond(exit, requestId, headers);
    const durationMs = performance.now() - startedMs;
    meter(method, response.status, durationMs / 1000);
    const fields = {
      request_id: requestId,
      method,
      route: route.path,
      status: response.status,
      duration_ms: Math.round(durationMs * 1000) / 1000,
      ...(Exit.isFailure(exit) ? { problem: problemOf(exit.cause).code } : {}),
    };
    void run(logLine(fields, exit));
    return response;
  };
};
