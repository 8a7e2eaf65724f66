import { Effect } from "effect";
import { type Endpoint, isOpenToAnyOrigin } from "./endpoint.ts";
import { type Exchange, type ExchangeSettings, makeExchange } from "./exchange.ts";
import { hasSoundHost } from "../request/is-host.ts";
import { MalformedHost, MethodNotAllowed, RouteNotFound } from "../problems/http-failures.ts";
import type { SentTarget } from "../request/sent-target.ts";

/** `/v1/escrows/{pda}` as an expression for paths; a parameter is one segment that is not empty. */
const pathPattern = (template: string): RegExp =>
  new RegExp(`^${template.replace(/[.]/g, "\\.").replace(/\{[^}]+\}/g, "[^/]+")}$`);

type PathEntry = {
  readonly path: string;
  readonly pattern: RegExp;
  readonly operations: ReadonlyArray<Endpoint>;
  /** The value of the path's `Allow` header. */
  readonly allow: ReadonlyArray<string>;
};

const parameters = ({ pattern }: PathEntry): number => pattern.source.split("[^/]").length;

const pathTable = (operations: ReadonlyArray<Endpoint>) => {
  const table = [...Map.groupBy(operations, ({ path }) => path)].map(([path, group]): PathEntry => {
    const methods = group.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
    const allow = [...methods, "OPTIONS"];
    return { path, pattern: pathPattern(path), operations: group, allow };
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
          "accept, content-type, idempotency-key, if-none-match, x-request-id",
        "access-control-max-age": "86400",
      }
    : {};

/**
 * The exchange of every request that no operation takes: 400 where its host is none (RFC 9112, section 3.2),
 * OPTIONS with `Allow`, 405 where the path has other methods (RFC 9110, section 15.5.6), otherwise 404.
 */
export const unmatchedExchange = (
  settings: ExchangeSettings,
  operations: ReadonlyArray<Endpoint>,
): Exchange => {
  const entryAt = pathTable(operations);
  const entryOf = (request: Request) =>
    entryAt(request.url, settings.connectionOf(request)?.target);
  const isOpen = (request: Request): boolean => {
    const wanted = request.headers.get("access-control-request-method");
    const target = entryOf(request)?.operations.find(({ method }) => method === wanted);
    return target === undefined || isOpenToAnyOrigin(target);
  };
  const answer = makeExchange(settings, { path: "unmatched", isOpen }, ({ request }) => {
    if (!hasSoundHost(request)) return Effect.fail(new MalformedHost());
    const allow = entryOf(request)?.allow;
    if (allow === undefined) return Effect.fail(new RouteNotFound());
    if (request.method !== "OPTIONS")
      // A method that the path takes is here because its URL leads elsewhere.
      return Effect.fail(
        allow.includes(request.method) ? new RouteNotFound() : new MethodNotAllowed({ allow }),
      );
    const list = allow.join(", ");
    const headers = { allow: list, ...preflightHeaders(request, list) };
    return Effect.succeed({ status: 204, body: null, headers });
  });
  return async (request, params) => {
    const response = await answer(request, params);
    // The router takes the body off the answer to a HEAD of an operation, and of these it must go too.
    return request.method === "HEAD" ? new Response(null, response) : response;
  };
};
