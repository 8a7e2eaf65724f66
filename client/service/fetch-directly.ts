import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { SettlementError } from "../settlement-error.ts";

/** A function like `fetch`; tests and runtimes with another one pass theirs. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Statuses that send a request elsewhere (RFC 9110, section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Where an answer leads, without a query; a browser does not tell it. */
const leadsTo = ({ headers }: Response, from: string): string => {
  const location = headers.get("location") ?? "";
  if (!URL.canParse(location, from)) return "another address";
  const { origin, pathname } = new URL(location, from);
  return foreignText(origin + pathname);
};

/**
 * `fetch`, or `fetchWith`, that follows no redirect: keys, payments and trust go where they were named. @throws SettlementError `redirected`
 * for a redirect, and what `fetch` throws.
 */
export const fetchDirectly = async (
  url: string,
  init: RequestInit = {},
  fetchWith: Fetch = fetch,
): Promise<Response> => {
  const response = await fetchWith(url, { ...init, redirect: "manual" });
  if (!REDIRECTS.has(response.status) && response.type !== "opaqueredirect") return response;
  await response.body?.cancel();
  const { origin } = new URL(url);
  throw new SettlementError(
    "redirected",
    `${origin} redirects to ${leadsTo(response, url)}, and no redirect is followed.`,
    "Give that address itself, if you trust it.",
  );
};
