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
 * Whose pages may call an operation. `listed`: those of the listed origins. `any_if_starred`: those of all origins when
 * `*` is listed. `any`: those of all origins, always.
 */
export type Opening = "listed" | "any_if_starred" | "any";

/** The headers that the answers of one kind share, to reads and to POST. */
type KindOfAnswer = { readonly read: Headers; readonly post: Headers };

/** A cached live answer must be revalidated. An answer to a POST must not be stored. */
const kindOf = (cors: Readonly<Record<string, string>>): KindOfAnswer => ({
  read: new Headers({ ...SECURITY, "cache-control": "no-cache", ...cors }),
  post: new Headers({ ...SECURITY, "cache-control": "no-store", ...cors }),
});

/** The headers that answers share: security, caching and CORS. */
export type SharedHeaders = {
  /** Those of answers without a route. */
  readonly unrouted: KindOfAnswer;
  /** Those of answers to a page of `origin`, or to a program, on a route with this opening. */
  readonly routed: (origin: string | null, opening: Opening) => KindOfAnswer;
};

/**
 * The headers of every answer, with those of CORS for pages of `origins` (WHATWG Fetch, section 3.2). No credentials
 * are ever allowed. They are made once, because copying them takes a third of the time.
 */
export const sharedHeaders = (origins: ReadonlyArray<string>): SharedHeaders => {
  const allowing = (origin: string, exposed = EXPOSED) => ({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": exposed,
  });
  const any = kindOf(allowing("*", `${EXPOSED}, x-action-version, x-blockchain-ids`));
  const starred = origins.includes("*") ? kindOf(allowing("*")) : null;
  const unlisted = kindOf({ vary: "origin" });
  const listed = new Map(
    origins
      .filter((origin) => origin !== "*")
      .map((origin) => [origin, kindOf({ ...allowing(origin), vary: "origin" })]),
  );
  return {
    unrouted: kindOf({}),
    routed: (origin, opening) => {
      if (opening === "any") return any;
      if (opening === "any_if_starred" && starred !== null) return starred;
      return (origin === null ? undefined : listed.get(origin)) ?? unlisted;
    },
  };
};

/** What a budget allows (draft-ietf-httpapi-ratelimit-headers-10, section 3). */
export const rateLimitPolicy = (
  budget: Budget,
  { limit, windowSeconds }: Pick<RateDecision, "limit" | "windowSeconds">,
): string => `"${budget}";q=${limit};w=${windowSeconds}`;

/** What is left of a budget (the same draft, section 4). */
export const rateLimit = (budget: Budget, { remaining, resetSeconds }: RateDecision): string =>
  `"${budget}";r=${remaining};t=${resetSeconds}`;
