import { concatBytes } from "@noble/hashes/utils.js";
import { foreignText } from "../../core/domain/encoding/foreign-text.ts";
import { SettlementError } from "../settlement-error.ts";

/** A function like `fetch`, for tests and for runtimes with their own. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The runtime's own `fetch`, which follows redirects as the request asks for it. */
export const runtimeFetch: Fetch = (url, init) => fetch(url, init);

/** The statuses of a redirect (RFC 9110, section 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The target of a redirect without its query. Browsers hide it; then "another address". */
const leadsTo = ({ headers }: Response, from: string): string => {
  const location = headers.get("location") ?? "";
  if (!URL.canParse(location, from)) return "another address";
  const { origin, pathname } = new URL(location, from);
  return foreignText(origin + pathname);
};

/**
 * Fetches and follows no redirect, so that keys and payments go only to the address that the caller named.
 * @throws SettlementError `redirected` for a redirect; otherwise what `fetchWith` throws
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

/** An answer's body. @throws Error as soon as it is longer than `mostBytes`, counted after decompression. */
export const boundedBytes = async (response: Response, mostBytes: number): Promise<Uint8Array> => {
  const reader = response.body?.getReader();
  if (reader === undefined) return new Uint8Array();
  const parts: Array<Uint8Array> = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return concatBytes(...parts);
    bytes += value.length;
    if (bytes > mostBytes) {
      await reader.cancel();
      throw new Error(`the answer has more than ${mostBytes} bytes`);
    }
    parts.push(value);
  }
};
