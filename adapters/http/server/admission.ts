import { Effect } from "effect";
import { RateLimiter } from "../../../ports/rate-limiter.ts";
import { acceptedMediaType } from "../request/accept.ts";
import {
  assertBodyFits,
  bodyBytes,
  declaredBytes,
  decodeUtf8,
  parseJsonBody,
  readBody,
  requestCost,
} from "../request/request-body.ts";
import { type Endpoint, maxBodyBytes } from "./endpoint.ts";
import type { Exchange, ExchangeSettings } from "./exchange.ts";
import {
  InvalidRequest,
  MalformedJson,
  NotAcceptable,
  RateLimited,
} from "../problems/http-failures.ts";
import { queryDecoder } from "../request/query-string.ts";
import { rateLimit, rateLimitPolicy } from "./response-headers.ts";
import { schemaCheck } from "../request/schema-check.ts";

/**
 * Takes the cost of a request with a body of `bytes` from the client's budget, less the cost that is already paid
 * for `paidBytes`, and writes the remaining budget into the answer's headers. Fails with `RateLimited`.
 */
const spend = ({ clientOf }: ExchangeSettings, budget: NonNullable<Endpoint["budget"]>) => {
  let policy: string | undefined;
  return (exchange: Exchange, bytes: number, paidBytes?: number) =>
    Effect.flatMap(RateLimiter, (limiter) => {
      const limit = limiter.limits[budget];
      const paid = paidBytes === undefined ? 0 : requestCost(paidBytes, limit);
      const cost = requestCost(bytes, limit) - paid;
      if (cost === 0) return Effect.void;
      return Effect.flatMap(limiter.take(budget, clientOf(exchange), cost), (decision) => {
        exchange.headers["ratelimit-policy"] = policy ??= rateLimitPolicy(budget, decision);
        exchange.headers["ratelimit"] = rateLimit(budget, decision);
        return decision.allowed
          ? Effect.void
          : Effect.fail(new RateLimited({ resetSeconds: decision.resetSeconds }));
      });
    });
};

/**
 * The checks before a request's handler, in this order: budget, Accept, query and body. Returns the decoded query and
 * body, and records in the exchange which of the media types in `offers` the caller prefers.
 */
export const admission = (
  settings: ExchangeSettings,
  operation: Endpoint,
  offers: ReadonlyArray<string>,
) => {
  const { budget, method } = operation;
  const decodeQuery = queryDecoder(operation.query);
  const checkBody = operation.body === undefined ? undefined : schemaCheck(operation.body.schema);
  const pay = budget === null ? undefined : spend(settings, budget);
  const maxBytes = maxBodyBytes(operation);
  const takesText = operation.textBody !== undefined;
  const takesBody = takesText || checkBody !== undefined;

  /** Pays for the bytes of a body beyond those that are paid: it can have more only when it declared no length. */
  const payRest = (exchange: Exchange, { length }: Uint8Array, paidBytes: number) =>
    pay !== undefined && length > paidBytes ? pay(exchange, length, paidBytes) : Effect.void;

  const decodeBody = Effect.fnUntraced(function* (
    exchange: Exchange,
    check: NonNullable<typeof checkBody>,
    paidBytes: number,
  ) {
    const bytes = yield* readBody(exchange.request, maxBytes);
    yield* payRest(exchange, bytes, paidBytes);
    const parsed = parseJsonBody(bytes);
    if ("fault" in parsed) return yield* new MalformedJson({ detail: parsed.fault });
    const checked = check(parsed.value);
    if ("value" in checked) return checked.value;
    return yield* new InvalidRequest({ faults: checked.faults });
  });

  const decodeText = Effect.fnUntraced(function* (exchange: Exchange, paidBytes: number) {
    const bytes = yield* bodyBytes(exchange.request, maxBytes);
    yield* payRest(exchange, bytes, paidBytes);
    return decodeUtf8(bytes) ?? null;
  });

  return Effect.fnUntraced(function* (exchange: Exchange) {
    const { request } = exchange;
    const declared = takesBody ? declaredBytes(request) : 0;
    // A body that is too large is refused unread.
    const paidBytes = declared > maxBytes ? 0 : declared;
    if (pay !== undefined) yield* pay(exchange, paidBytes);
    const mediaType = acceptedMediaType(request.headers.get("accept"), offers);
    if (mediaType === undefined) return yield* new NotAcceptable({ offers });
    exchange.mediaType = mediaType;
    const query = yield* decodeQuery(request.url);
    if (method === "POST" && !takesBody) yield* assertBodyFits(request, maxBytes);
    const body =
      checkBody === undefined ? undefined : yield* decodeBody(exchange, checkBody, paidBytes);
    const text = takesText ? yield* decodeText(exchange, paidBytes) : null;
    return { query, body, text };
  });
};
