import { Elysia } from "elysia";
import type { Context } from "effect";
import { clientKey } from "./client-address.ts";
import { consolePage } from "../pages/console/console-page.ts";
import { verifierModule } from "../pages/console/verifier-module.ts";
import { allEndpoints } from "./endpoints.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Connection, Exchange, ExchangeSettings } from "./exchange.ts";
import type { HttpServices } from "./http-services.ts";
import { once } from "./once.ts";
import { openApiDocument } from "../openapi/openapi-document.ts";
import { operationExchange } from "./operation.ts";
import { referencePage } from "../pages/reference/reference-page.ts";
import { INTERNAL_ERROR } from "../problems/failure-problem.ts";
import { PROBLEM_MEDIA_TYPE, problemDocument } from "../problems/problem.ts";
import { hasSoundHost } from "../request/is-host.ts";
import { requestOrigin } from "../request/request-origin.ts";
import { baseHeaders } from "./response-headers.ts";
import { routerPath } from "./router-path.ts";
import { isAsSent, placeTarget } from "../request/sent-target.ts";
import { trustedProxies } from "../request/trusted-proxies.ts";
import { unmatchedExchange } from "./unmatched.ts";

/** What the HTTP surface is made from. */
export type HttpOptions = {
  /** Every service, built once; no request builds a layer. */
  readonly context: Context.Context<HttpServices>;
  /** Addresses and CIDR blocks whose `X-Forwarded-*` headers are believed; none by default. */
  readonly trustedProxies?: ReadonlyArray<string>;
  /** Origins whose pages may call the service; `*` opens reads and prepare to all. Default `["*"]`. */
  readonly corsOrigins?: ReadonlyArray<string>;
};

/** The HTTP surface: a function of requests, whether a port listens or not. */
export type HttpApp = {
  /** Answers a request. Never rejects. */
  readonly handle: (request: Request, connection?: Connection) => Promise<Response>;
  /** From now on `/ready` answers 503, and each answer closes its connection. */
  readonly drain: () => void;
  /** Every operation it answers. */
  readonly operations: ReadonlyArray<Endpoint>;
};

/** The answer where even making one failed: Elysia's own would be the error's text. */
const lastResort = ({ method }: Request): Response => {
  const requestId = crypto.randomUUID();
  return new Response(problemDocument(INTERNAL_ERROR, requestId), {
    status: 500,
    headers: { ...baseHeaders(method, requestId), "content-type": PROBLEM_MEDIA_TYPE },
  });
};

/** The HTTP surface over these services. @throws Error for a trusted proxy that is no address or block. */
export const createHttpApp = (options: HttpOptions): HttpApp => {
  let draining = false;
  const connections = new WeakMap<Request, Connection>();
  const isTrusted = trustedProxies(options.trustedProxies ?? []);
  const originOf = requestOrigin(isTrusted);
  const settings: ExchangeSettings = {
    context: options.context,
    corsOrigins: options.corsOrigins ?? ["*"],
    clientKey: clientKey(isTrusted),
    connectionOf: (request) => connections.get(request),
    originOf: (request) => originOf(request, connections.get(request)?.address ?? null),
    isDraining: () => draining,
  };
  const operations: ReadonlyArray<Endpoint> = allEndpoints({
    isDraining: settings.isDraining,
    console: once(consolePage),
    consoleVerifier: once(verifierModule),
    reference: once(referencePage),
    openApiDocument: once(() => openApiDocument(operations)),
  });

  // Elysia routes; bodies, queries and answers pass it unread, since its parsers coerce and strip.
  const router = new Elysia({
    strictPath: true,
    normalize: false,
    // Otherwise it looks for the path behind the eleventh character, which a host such as `api` falls short of.
    handler: { standardHostname: false },
  });
  router.onError(({ request }) => lastResort(request));
  const unmatched = unmatchedExchange(settings, operations);
  for (const operation of operations) {
    const { method, path } = operation;
    const exchange = operationExchange(settings, operation);
    const route = { path, names: Object.keys(operation.params) };
    const answer: Exchange = (request, params) => {
      const target = connections.get(request)?.target;
      const isOwn = target === undefined || isAsSent(target, route, params);
      return isOwn ? exchange(request, params) : unmatched(request, params);
    };
    router.route(method, routerPath(path), ({ request, params }) => answer(request, params), {
      parse: "none",
    });
  }
  // Each path takes every other method itself, so that a template beside it never does.
  for (const path of new Set([...operations.map((operation) => operation.path), "/*"]))
    router.all(routerPath(path), ({ request }) => unmatched(request, {}), { parse: "none" });

  return {
    operations,
    drain: () => {
      draining = true;
    },
    handle: (request, connection) => {
      if (connection !== undefined) connections.set(request, connection);
      // A host that is none would shift the path the router looks for, and CONNECT's target is no path.
      if (!hasSoundHost(request) || connection?.target === null || request.method === "CONNECT")
        return unmatched(request, {});
      placeTarget(request);
      return Promise.resolve(router.fetch(request));
    },
  };
};
