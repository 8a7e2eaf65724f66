import { Type } from "@sinclair/typebox";
import { type Effect, Exit } from "effect";
import { admission } from "./admission.ts";
import { type Endpoint, isOpenToAnyOrigin } from "./endpoint.ts";
import { enterRoute, type Exchange, type ExchangeSettings, Failed } from "./exchange.ts";
import { routeMeter } from "./http-metrics.ts";
import type { HttpServices } from "./http-services.ts";
import { operationObject } from "../openapi/operation-object.ts";
import type { ApiFailure } from "../problems/api-failure.ts";
import { isAsSent } from "../request/sent-target.ts";

type Params = Readonly<Record<string, string | null>>;

/** A request as the router hands it on: parameters may be missing, and its query is not decoded. */
type Undecoded = { readonly request: Request; params?: Params; query?: unknown };

/** A request that was admitted, and where Elysia takes status and headers of the answer from. */
type Decoded = {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
  readonly query: Record<string, unknown>;
  readonly body: unknown;
  readonly set: { status?: number | string; headers: Record<string, string | number> };
};

/** The headers of an answer under its own, which may add to `Vary`. */
const answerHeaders = (
  shared: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> => {
  const vary = [shared["vary"], own["vary"]].filter((names) => names !== undefined);
  return { ...shared, ...own, ...(vary.length === 0 ? {} : { vary: vary.join(", ") }) };
};

const contentType = (mediaType: string): string =>
  mediaType.startsWith("text/") ? `${mediaType}; charset=utf-8` : mediaType;

/**
 * The route of one operation as Elysia takes it: schemas and documentation, a hook that judges budget, Accept,
 * query and body in this order, and the handler. What fails is thrown as `Failed`, for the app's `onError`.
 */
export const operationRoute = (
  settings: ExchangeSettings,
  operation: Endpoint,
  exchangeOf: (request: Request) => Exchange,
  refuse: (exchange: Exchange) => void,
) => {
  const { method, path, answers } = operation;
  const usualStatus = Math.min(...Object.keys(answers).map(Number));
  const offers = Object.keys(answers[usualStatus]?.content ?? {});
  const names = Object.keys(operation.params);
  const judge = admission(settings, operation, offers);
  const route = { path, meter: routeMeter(settings.context, path) };
  const isOpen = isOpenToAnyOrigin(operation);

  const run = async <A>(
    effect: Effect.Effect<A, ApiFailure, HttpServices>,
    options?: Effect.RunOptions,
  ): Promise<A> => {
    const exit = await settings.run(effect, options);
    if (Exit.isSuccess(exit)) return exit.value;
    throw new Failed(exit.cause);
  };

  /** Decodes and checks what the request holds, and gives its body. */
  const admit = async (context: Undecoded): Promise<unknown> => {
    const { request, params } = context;
    const exchange = exchangeOf(request);
    const target = exchange.connection?.target;
    if (target !== undefined && !isAsSent(target, { path, names }, params)) refuse(exchange);
    enterRoute(settings, exchange, route, isOpen);
    const { query, body } = await run(judge(exchange));
    // A segment that is not valid percent-encoding has no text; as an empty one it is refused by name.
    context.params = Object.fromEntries(names.map((name) => [name, params?.[name] ?? ""]));
    context.query = query;
    return body;
  };

  const handler = async ({ request, params, query, body, set }: Decoded) => {
    const exchange = exchangeOf(request);
    const { mediaType, connection } = exchange;
    if (operation.maySeconds !== undefined) connection?.allowSeconds(operation.maySeconds);
    const { status = usualStatus, ...answer } = await run(
      operation.handle({
        params,
        query,
        body,
        mediaType,
        origin: () => settings.originOf(exchange),
        headers: request.headers,
        client: () => settings.clientOf(exchange),
      }),
      // Only a read ends with its client's interest; what a POST began is finished.
      method === "POST" ? undefined : { signal: request.signal },
    );
    const hasContent = !("text" in answer && answer.text === null);
    const headers = answerHeaders(exchange.headers, {
      ...(hasContent ? { "content-type": contentType(mediaType) } : {}),
      ...answer.headers,
    });
    if ("json" in answer) {
      set.status = status;
      set.headers = headers;
      return answer.json;
    }
    if ("jsonText" in answer) return new Response(answer.jsonText, { status, headers });
    if ("codedJson" in answer) return new Response(answer.codedJson, { status, headers });
    if ("bytes" in answer) return new Response(answer.bytes, { status, headers });
    if ("text" in answer) return new Response(answer.text, { status, headers });
    // The router would read a stream to its end to answer HEAD.
    return new Response(request.method === "HEAD" ? null : answer.stream, { status, headers });
  };

  const { body } = operation;
  return {
    handler,
    hooks: {
      ...(names.length === 0 ? {} : { params: Type.Object(operation.params) }),
      query: operation.query,
      ...(body === undefined ? {} : { body: body.schema }),
      // A body that nothing reads is left alone: a parser would have Elysia begin to read it. The hook itself stands
      // here, since a function that passes its context on has Elysia decode cookies and headers too.
      parse: body === undefined ? ("none" as const) : admit,
      transform: body === undefined ? [admit as (context: Undecoded) => Promise<void>] : [],
      detail: operationObject(operation),
    },
  };
};
