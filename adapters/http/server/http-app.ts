import { Cause, type Context, Effect } from "effect";
import { Elysia } from "elysia";
import { iconEndpoint } from "../actions/actions-json.ts";
import { llmsText } from "../agents/llms.ts";
import { MCP_PATH, type McpAnswering, noMcp } from "../agents/mcp.ts";
import { referenceMarkdown } from "../agents/reference-markdown.ts";
import { openApiDocument } from "../openapi/openapi-document.ts";
import { referenceOf } from "../openapi/reference.ts";
import { referencePage } from "../pages/reference/reference-page.ts";
import { operatorEndpoint } from "../operator/operator-screen.ts";
import { assetsEndpoint, pageEndpoints } from "../pages/screens.ts";
import { pageText } from "../pages/shell/shell.ts";
import { isAsSent, isPlain, placeTarget } from "../request/query-string.ts";
import {
  clientKey,
  hasSoundHost,
  requestOrigin,
  trustedProxies,
} from "../request/request-origin.ts";
import { METRICS_PATH } from "../service/metrics.ts";
import { keptText } from "./coded-text.ts";
import { type Endpoint, routerPath } from "./endpoint.ts";
import { allEndpoints } from "./endpoints.ts";
import {
  beginExchange,
  type Connection,
  endExchange,
  type Exchange,
  type ExchangeSettings,
  problemResponse,
} from "./exchange.ts";
import { routeMeter } from "./http-metrics.ts";
import type { HttpServices } from "./http-services.ts";
import { once } from "./once.ts";
import { operationRoute, type Params } from "./operation-route.ts";
import { sharedHeaders } from "./response-headers.ts";
import { unmatchedRoute } from "./unmatched.ts";

/** What tells who the client is, and how it reached the service. */
const OF_CLIENT = [
  "x-forwarded-for",
  "x-forwarded-proto",
  "x-forwarded-host",
  "x-request-id",
] as const;

/** Used where a request names no host; links in answers are then of no use to anybody. */
const NOWHERE = "http://localhost";

/**
 * The function that answers another request of the service as if the client of an exchange had sent it: with its
 * address, budgets and request id.
 */
const askingFor =
  (
    handle: (request: Request, connection: Connection | undefined) => Promise<Response>,
    originOf: (request: Request, peer: string | null) => string,
  ) =>
  ({ request, connection, requestId }: Exchange, path: string, init: RequestInit) => {
    const headers = new Headers(init.headers);
    for (const name of OF_CLIENT) {
      const value = request.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    headers.set("x-request-id", requestId);
    const peer = connection?.address ?? null;
    const origin = originOf(request, peer) || NOWHERE;
    return handle(new Request(origin + path, { ...init, headers }), {
      address: peer,
      // The outer request holds the connection.
      allowSeconds: () => {},
    });
  };

/** What the HTTP surface is made from. */
export type HttpOptions = {
  /** Every service, built once; no request builds a layer. */
  readonly context: Context.Context<HttpServices>;
  /** Addresses and CIDR blocks whose `X-Forwarded-*` headers are trusted; none by default. */
  readonly trustedProxies?: ReadonlyArray<string>;
  /** The operations that it answers, because the metrics can have their own listener. Default `all`. */
  readonly serves?: "all" | "all_but_metrics" | "metrics";
  /** Origins whose pages may call the service; `*` opens reads and prepare to all. Default `["*"]`. */
  readonly corsOrigins?: ReadonlyArray<string>;
  /** The HTTPS origin that wallet links begin with; null, by default, for no links. */
  readonly publicUrl?: string | null;
  /** What answers the messages of MCP clients; without it there is no `/mcp`. */
  readonly mcp?: McpAnswering;
};

/** The HTTP surface: a function of requests, whether a port listens or not. */
export type HttpApp = {
  /** Answers a request. Never rejects. */
  readonly handle: (request: Request, connection?: Connection) => Promise<Response>;
  /** After this call `/ready` answers 503, and each answer closes its connection. */
  readonly drain: () => void;
  /** Every operation of the contract that it answers. */
  readonly operations: ReadonlyArray<Endpoint>;
  /** Those, and its pages for people. */
  readonly routes: ReadonlyArray<Endpoint>;
};

/** The HTTP surface over these services. @throws Error for a trusted proxy that is not an address or block. */
export const createHttpApp = (options: HttpOptions): HttpApp => {
  let draining = false;
  const exchanges = new WeakMap<Request, Exchange>();
  const exchangeOf = (request: Request): Exchange => {
    const exchange = exchanges.get(request);
    if (exchange === undefined) throw new Error("a request that was not handed to `handle`");
    return exchange;
  };
  const isTrusted = trustedProxies(options.trustedProxies ?? []);
  const keyOf = clientKey(isTrusted);
  const originOf = requestOrigin(isTrusted);
  const corsOrigins = options.corsOrigins ?? ["*"];
  const settings: ExchangeSettings = {
    context: options.context,
    run: Effect.runPromiseExitWith(options.context),
    fork: Effect.runForkWith(options.context),
    shared: sharedHeaders(corsOrigins),
    publicUrl: options.publicUrl ?? null,
    clientOf: ({ request, connection }) => keyOf(request, connection?.address ?? null),
    originOf: ({ request, connection }) => originOf(request, connection?.address ?? null),
    askFor: askingFor((request, connection) => handle(request, connection), originOf),
    isDraining: () => draining,
  };
  const { serves = "all", mcp } = options;
  const isServed = ({ path }: Endpoint): boolean =>
    (serves === "all" || (path === METRICS_PATH) === (serves === "metrics")) &&
    (mcp !== undefined || path !== MCP_PATH);
  const document = once(() => openApiDocument(operations));
  const reference = once(async () => referenceOf(await document()));
  const operations: ReadonlyArray<Endpoint> = allEndpoints({
    isDraining: settings.isDraining,
    reference: once(async () => keptText(pageText(referencePage(await reference()), "/docs"))),
    referenceMarkdown: once(async () => keptText(referenceMarkdown(await reference()))),
    llmsText: once(() => keptText(llmsText(operations))),
    openApiDocument: document,
    mcp: { answer: mcp ?? noMcp, origins: corsOrigins },
  }).filter(isServed);
  const routes = [
    ...operations,
    ...(serves === "metrics" ? [operatorEndpoint, assetsEndpoint, iconEndpoint] : pageEndpoints),
  ];

  const app = new Elysia({
    strictPath: true,
    // By default Elysia looks for the path from the URL's eleventh character on. With a short host, such as `api`, that
    // is too late.
    handler: { standardHostname: false },
  }).onError(({ request, error }) => problemResponse(exchangeOf(request), Cause.die(error)));
  const unmatchedPath = {
    path: "unmatched",
    meter: routeMeter(options.context, "unmatched"),
    forWallets: false,
  };
  const unmatched = unmatchedRoute(settings, routes, unmatchedPath);
  const handlers = new Map<string, ReturnType<typeof operationRoute>>();
  for (const operation of routes) {
    const { method, path } = operation;
    const handler = operationRoute(settings, operation);
    handlers.set(`${method} ${path}`, handler);
    const names = Object.keys(operation.params);
    const matched = ({
      request,
      params,
    }: {
      readonly request: Request;
      readonly params: Params;
    }) => {
      const exchange = exchangeOf(request);
      const target = exchange.connection?.target;
      return target === undefined || isAsSent(target, { path, names }, params)
        ? handler(exchange, params)
        : unmatched(exchange);
    };
    // The admission reads the body and judges it.
    app.route(method, routerPath(path), matched, { parse: "none" });
  }
  // Each path has a route for all other methods. Without it, a template that also matches the path would get them.
  for (const path of new Set([...routes.map((operation) => operation.path), "/*"]))
    app.all(routerPath(path), ({ request }) => unmatched(exchangeOf(request)), {
      parse: "none",
    });

  const answer = (exchange: Exchange): Promise<Response> | Response => {
    const { request, connection } = exchange;
    // With an invalid host the router finds a wrong path. CONNECT has no path.
    if (!hasSoundHost(request) || connection?.target === null || request.method === "CONNECT")
      return unmatched(exchange);
    placeTarget(request);
    const target = connection?.target;
    if (target !== undefined && isPlain(target, request.url)) {
      const handler = handlers.get(`${request.method} ${target.path}`);
      // Elysia would find the same one, for a twentieth of a short request.
      if (handler !== undefined) return handler(exchange, target.params);
    }
    exchanges.set(request, exchange);
    return app.fetch(request);
  };
  const handle: HttpApp["handle"] = async (request, connection) => {
    const exchange = beginExchange(settings, unmatchedPath, request, connection);
    let response: Response;
    try {
      response = await answer(exchange);
    } catch (thrown) {
      response = problemResponse(exchange, Cause.die(thrown));
    }
    endExchange(settings, exchange, response);
    return response;
  };
  return {
    operations,
    routes,
    drain: () => {
      draining = true;
    },
    handle,
  };
};
