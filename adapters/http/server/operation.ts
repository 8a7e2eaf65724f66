import { Effect } from "effect";
import { RateLimiter } from "../../../ports/rate-limiter.ts";
import { acceptedMediaType } from "../request/accept.ts";
import { requestCost } from "../request/body-limits.ts";
import { type Endpoint, isOpenToAnyOrigin, maxBodyBytes } from "./endpoint.ts";
import { type Exchange, type ExchangeSettings, type Incoming, makeExchange } from "./exchange.ts";
import {
  InvalidRequest,
  MalformedJson,
  NotAcceptable,
  RateLimited,
} from "../problems/http-failures.ts";
import { queryDecoder } from "../request/query-string.ts";
import { assertBodyFits, declaredBytes, parseJsonBody, readBody } from "../request/request-body.ts";
import { rateLimitHeaders } from "./response-headers.ts";
import { schemaCheck } from "../request/schema-check.ts";

const contentType = (mediaType: string): string =>
  mediaType.startsWith("text/") ? `${mediaType}; charset=utf-8` : mediaType;

const clientOf = (settings: ExchangeSettings, request: Request): string =>
  settings.clientKey(request, settings.connectionOf(request)?.address ?? null);

/**
 * Takes what a request with a body of so many bytes costs from the client's budget, less what one of `paidBytes` costs
 * where that is paid already, and writes what is left into the answer's headers. Fails with `RateLimited`.
 */
const spend = (settings: ExchangeSettings, budget: NonNullable<Endpoint["budget"]>) =>
  Effect.fnUntraced(function* ({ request, headers }: Incoming, bytes: number, paidBytes?: number) {
    const limiter = yield* RateLimiter;
    const limit = limiter.limits[budget];
    const paid = paidBytes === undefined ? 0 : requestCost(paidBytes, limit);
    const cost = requestCost(bytes, limit) - paid;
    if (cost === 0) return;
    const decision = yield* limiter.take(budget, clientOf(settings, request), cost);
    Object.assign(headers, rateLimitHeaders(budget, decision));
    if (!decision.allowed) return yield* new RateLimited({ resetSeconds: decision.resetSeconds });
  });

/**
 * The exchange of one operation: budget, Accept, query and body are judged in this order, then its
 * handler runs with what was decoded.
 */
export const operationExchange = (settings: ExchangeSettings, operation: Endpoint): Exchange => {
  const { budget, method, path, answers } = operation;
  const usualStatus = Math.min(...Object.keys(answers).map(Number));
  const offers = Object.keys(answers[usualStatus]?.content ?? {});
  const names = Object.keys(operation.params);
  const decodeQuery = queryDecoder(operation.query);
  const checkBody = operation.body === undefined ? undefined : schemaCheck(operation.body.schema);
  const pay = budget === null ? undefined : spend(settings, budget);
  const maxBytes = maxBodyBytes(operation);

  const decodeBody = Effect.fnUntraced(function* (
    incoming: Incoming,
    check: NonNullable<typeof checkBody>,
    paidBytes: number,
  ) {
    const bytes = yield* readBody(incoming.request, maxBytes);
    // More than was paid for comes only where no length was declared.
    if (pay !== undefined && bytes.length > paidBytes)
      yield* pay(incoming, bytes.length, paidBytes);
    const parsed = parseJsonBody(bytes);
    if ("fault" in parsed) return yield* new MalformedJson({ detail: parsed.fault });
    const checked = check(parsed.value);
    if ("value" in checked) return checked.value;
    return yield* new InvalidRequest({ faults: checked.faults });
  });

  const decide = Effect.fnUntraced(function* (incoming: Incoming) {
    const { request } = incoming;
    const declared = checkBody === undefined ? 0 : declaredBytes(request);
    // A body that is too large is refused unread.
    const paidBytes = declared > maxBytes ? 0 : declared;
    if (pay !== undefined) yield* pay(incoming, paidBytes);
    const mediaType = acceptedMediaType(request.headers.get("accept"), offers);
    if (mediaType === undefined) return yield* new NotAcceptable({ offers });
    const query = yield* decodeQuery(request.url);
    if (method === "POST" && checkBody === undefined) yield* assertBodyFits(request, maxBytes);
    const body =
      checkBody === undefined ? undefined : yield* decodeBody(incoming, checkBody, paidBytes);
    if (operation.maySeconds !== undefined)
      settings.connectionOf(request)?.allowSeconds(operation.maySeconds);
    const answer = yield* operation.handle({
      // A segment that is not valid percent-encoding has no text; as an empty one it is refused by name.
      params: Object.fromEntries(names.map((name) => [name, incoming.params?.[name] ?? ""])),
      query,
      body,
      mediaType,
      origin: () => settings.originOf(request),
      headers: request.headers,
      client: () => clientOf(settings, request),
    });
    // The router would read a stream to its end to answer HEAD.
    const isHead = request.method === "HEAD";
    const payload =
      "json" in answer
        ? JSON.stringify(answer.json)
        : "text" in answer
          ? answer.text
          : isHead
            ? null
            : answer.stream;
    const hasContent = payload !== null || "stream" in answer;
    return {
      status: answer.status ?? usualStatus,
      body: payload,
      headers: {
        ...(hasContent ? { "content-type": contentType(mediaType) } : {}),
        ...answer.headers,
      },
    };
  });

  return makeExchange(settings, { path, isOpen: () => isOpenToAnyOrigin(operation) }, decide);
};
