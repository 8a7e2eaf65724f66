import { Context, Effect, Exit, Tracer } from "effect";
import { parseAddress } from "../../../core/domain/address.ts";
import { actionHeaders } from "../actions/action-operation.ts";
import { admission } from "./admission.ts";
import { type Answer, type Endpoint, openingOf } from "./endpoint.ts";
import {
  answerExchange,
  enterRoute,
  type Exchange,
  type ExchangeSettings,
  problemResponse,
} from "./exchange.ts";
import { routeMeter } from "./http-metrics.ts";

/** The parameters of a path as the router decoded them; undefined where the path has none. */
export type Params = Readonly<Record<string, string | null>> | undefined;

const contentType = (mediaType: string): string =>
  mediaType.startsWith("text/") ? `${mediaType}; charset=utf-8` : mediaType;

/** What a response is made from. A stream is left out for HEAD: the router would read it to its end. */
const payloadOf = (answer: Answer, isHead: boolean) => {
  if ("json" in answer) return JSON.stringify(answer.json);
  if ("jsonText" in answer) return answer.jsonText;
  if ("codedJson" in answer) return answer.codedJson;
  if ("bytes" in answer) return answer.bytes;
  if ("text" in answer) return answer.text;
  return isHead ? null : answer.stream;
};

/**
 * Makes an answer one span, named by its operation, where traces are exported. It carries the escrow that the path
 * names.
 */
const inSpan = (
  { context }: ExchangeSettings,
  { operationId, path }: Endpoint,
): (<A, E, R>(
  answer: Effect.Effect<A, E, R>,
  exchange: Exchange,
  params: Params,
) => Effect.Effect<A, E, Exclude<R, Tracer.ParentSpan>>) => {
  if (Context.getOrUndefined(context, Tracer.Tracer) === undefined)
    return (answer) => answer as never;
  return (answer, { request, requestId }, params) => {
    const escrow = parseAddress(params?.["pda"] ?? "");
    const attributes = {
      "http.request.method": request.method,
      "http.route": path,
      request_id: requestId,
      ...(escrow === undefined ? {} : { escrow }),
    };
    return Effect.withSpan(answer, operationId, { root: true, kind: "server", attributes });
  };
};

/**
 * The handler of one operation's route: budget, Accept, query and body are judged in this order, then the operation
 * answers what was decoded. Throws only for a defect.
 */
export const operationRoute = (settings: ExchangeSettings, operation: Endpoint) => {
  const { method, path, answers, maySeconds } = operation;
  const usualStatus = Math.min(...Object.keys(answers).map(Number));
  const offers = Object.keys(answers[usualStatus]?.content ?? {});
  const names = Object.keys(operation.params);
  const judge = admission(settings, operation, offers);
  const forWallets = operation.forWallets === true;
  const route = { path, meter: routeMeter(settings.context, path), forWallets };
  const opening = openingOf(operation);

  const spanned = inSpan(settings, operation);

  const decide = (exchange: Exchange, params: Params) =>
    Effect.flatMap(judge(exchange), ({ query, body, text }) => {
      if (maySeconds !== undefined) exchange.connection?.allowSeconds(maySeconds);
      return operation.handle({
        // A segment that is not valid percent-encoding has no text; as an empty one it is refused by name.
        params: Object.fromEntries(names.map((name) => [name, params?.[name] ?? ""])),
        query,
        body,
        text,
        mediaType: exchange.mediaType,
        origin: () => settings.originOf(exchange),
        publicUrl: settings.publicUrl,
        headers: exchange.request.headers,
        client: () => settings.clientOf(exchange),
        ask: (path, init) => settings.askFor(exchange, path, init),
      });
    });

  const respond = (exchange: Exchange, answer: Answer): Response => {
    const { status = usualStatus, headers } = answer;
    if (!("text" in answer && answer.text === null))
      exchange.headers["content-type"] = contentType(exchange.mediaType);
    const payload = payloadOf(answer, exchange.request.method === "HEAD");
    return answerExchange(exchange, payload, status, headers);
  };

  return async (exchange: Exchange, params: Params): Promise<Response> => {
    enterRoute(settings, exchange, route, opening);
    if (forWallets) Object.assign(exchange.headers, await actionHeaders(settings));
    // Only a read ends with its client's interest; what a POST began is finished.
    const options = method === "POST" ? undefined : exchange.request;
    const exit = await settings.run(spanned(decide(exchange, params), exchange, params), options);
    return Exit.isSuccess(exit)
      ? respond(exchange, exit.value)
      : problemResponse(exchange, exit.cause);
  };
};
