import type { Budget, RateDecision } from "../../../ports/rate-limiter.ts";

/** The headers of every answer. */
const SECURITY: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "cross-origin-resource-policy": "cross-origin",
};

/** What pages of other origins may read beside the safelisted headers. */
const EXPOSED = "allow, etag, ratelimit, ratelimit-policy, retry-after, x-request-id";

/** Whose pages may call an operation: those of the listed origins, of any origin where `*` is listed, or always of any. */
export type Opening = "listed" | "any_if_starred" | "any";

/**
 * The CORS headers of an answer to a page of `origin` (WHATWG Fetch, section 3.2). No credentials are ever allowed.
 */
export const corsHeaders = (
  origins: ReadonlyArray<string>,
  origin: string | null,
  opening: Opening,
): Readonly<Record<string, string>> => {
  if (opening === "any")
    return {
      "access-control-allow-origin": "*",
      "access-control-expose-headers": `${EXPOSED}, x-action-version, x-blockchain-ids`,
    };
  if (opening === "any_if_starred" && origins.includes("*"))
    return { "access-control-allow-origin": "*", "access-control-expose-headers": EXPOSED };
  if (origin === null || origin === "*" || !origins.includes(origin)) return { vary: "origin" };
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": EXPOSED,
    vary: "origin",
  };
};

/** The two structured fields of draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. */
export const rateLimitHeaders = (
  budget: Budget,
  { limit, windowSeconds, remaining, resetSeconds }: RateDecision,
): Readonly<Record<string, string>> => ({
  "ratelimit-policy": `"${budget}";q=${limit};w=${windowSeconds}`,
  ratelimit: `"${budget}";r=${remaining};t=${resetSeconds}`,
});

/** A cached live answer must be revalidated. An answer to a POST must not be stored. */
const cacheControl = (method: string): string => (method === "POST" ? "no-store" : "no-cache");

/** The headers of an answer before its own: security, caching, request id. */
export const baseHeaders = (method: string, requestId: string): Record<string, string> => ({
  ...SECURITY,
  "cache-control": cacheControl(method),
  "x-request-id": requestId,
});
