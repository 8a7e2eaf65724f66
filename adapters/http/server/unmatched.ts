import { Cause } from "effect";
import { ACTION_PREFLIGHT, actionHeaders } from "../actions/action-operation.ts";
import { type Endpoint, openingOf } from "./endpoint.ts";
import {
  answerExchange,
  enterRoute,
  type Exchange,
  type ExchangeSettings,
  problemResponse,
  type Route,
} from "./exchange.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import { hasSoundHost } from "../request/request-origin.ts";
import { MalformedHost, MethodNotAllowed, RouteNotFound } from "../problems/http-failures.ts";
import type { SentTarget } from "../request/query-string.ts";

/** `/v1/escrows/{pda}` as a regular expression for paths. A parameter is one segment that is not empty. */
const pathPattern = (template: string): RegExp =>
  new RegExp(`^${template.replace(/[.]/g, "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`);

type PathEntry = {
  readonly path: string;
  readonly pattern: RegExp;
  readonly operations: ReadonlyArray<Endpoint>;
  /** The value of the path's `Allow` header. */
  readonly allow: ReadonlyArray<string>;
  readonly forWallets: boolean;
};

const parameters = ({ pattern }: PathEntry): number => pattern.source.split("[^/]").length;

const pathTable = (operations: ReadonlyArray<Endpoint>) => {
  const table = [...Map.groupBy(operations, ({ path }) => path)].map(([path, group]): PathEntry => {
    const methods = group.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const allow = [...methods, "OPTIONS"];
    const forWallets = group.some((operation) => operation.forWallets === true);
    return { path, pattern: pathPattern(path), operations: group, allow, forWallets };
  });
  // A literal path comes before a template that would match it as well.
  table.sort((a, b) => parameters(a) - parameters(b));
  return (url: string, target: SentTarget | undefined) =>
    target === undefined
      ? table.find(({ pattern }) => pattern.test(pathOf(url)))
      : table.find(({ path }) => path === target?.path);
};

const pathOf = (url: string): string => {
  const from = url.indexOf("/", url.indexOf("://") + 3);
  const query = url.indexOf("?");
  return from === -1 ? "/" : url.slice(from, query === -1 ? url.length : query);
};

const preflightHeaders = (request: Request, allow: string): Readonly<Record<string, string>> =>
  request.headers.has("access-control-request-method")
    ? {
        "access-control-allow-methods": allow,
        "access-control-allow-headers":
          "accept, content-type, idempotency-key, if-none-match, last-event-id, mcp-method, mcp-name, mcp-protocol-version, x-request-id",
        "access-control-max-age": "86400",
      }
    : {};

const refuse = (exchange: Exchange, failure: ApiFailure): Response => {
  const problem = problemResponse(exchange, Cause.fail(failure));
  return exchange.request.method === "HEAD" ? new Response(null, problem) : problem;
};

/**
 * Answers requests that no operation takes: 400 for an invalid host (RFC 9112, section 3.2), OPTIONS with `Allow`, 405
 * when the path has other methods (RFC 9110, section 15.5.6), otherwise 404.
 */
export const unmatchedRoute = (
  settings: ExchangeSettings,
  operations: ReadonlyArray<Endpoint>,
  route: Route,
) => {
  const entryAt = pathTable(operations);

  return async (exchange: Exchange): Promise<Response> => {
    const { request, connection } = exchange;
    const entry = entryAt(request.url, connection?.target);
    const wanted = request.headers.get("access-control-request-method");
    const target = entry?.operations.find(({ method }) => method === wanted);
    const forWallets = entry?.forWallets === true;
    const opening = target === undefined ? "any_if_starred" : openingOf(target);
    enterRoute(settings, exchange, { ...route, forWallets }, forWallets ? "any" : opening);
    if (forWallets) Object.assign(exchange.headers, await actionHeaders(settings));
    if (!hasSoundHost(request)) return refuse(exchange, new MalformedHost());
    if (entry === undefined) return refuse(exchange, new RouteNotFound());
    const { allow } = entry;
    if (request.method !== "OPTIONS")
      // The path's own methods also come here when the URL's bytes name another path. Then there is no such route.
      return refuse(
        exchange,
        allow.includes(request.method) ? new RouteNotFound() : new MethodNotAllowed({ allow }),
      );
    const list = allow.join(", ");
    const preflight = forWallets ? ACTION_PREFLIGHT : preflightHeaders(request, list);
    return answerExchange(exchange, null, 204, { allow: list, ...preflight });
  };
};
