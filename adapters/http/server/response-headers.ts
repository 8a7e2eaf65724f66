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

/**
 * The CORS headers of an answer to a page of `origin` (WHATWG Fetch, section 3.2). No credentials are
 * ever allowed. With `*` among the configured origins, any page may call an `open` operation. Other operations are only for
 * origins in the list.
 */
export const corsHeaders = (
  origins: ReadonlyArray<string>,
  origin: string | null,
  open: boolean,
): Readonly<Record<string, string>> => {
  if (open && origins.includes("*"))
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
