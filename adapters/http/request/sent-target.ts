/**
 * The operation path, such as `/v1/escrows/{pda}`, that the bytes of a request's target match, with the
 * texts of its parameters; null when they match none.
 */
export type SentTarget = {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
} | null;

/**
 * Whether a request's URL and the bytes of its target lead to the same route.
 * They differ when the URL's parser resolved `..` or a backslash, which a proxy in front may
 * have read otherwise. A null parameter has no text and is not compared.
 */
export const isAsSent = (
  sent: SentTarget,
  route: { readonly path: string; readonly names: ReadonlyArray<string> },
  params: Readonly<Record<string, string | null>> | undefined,
): boolean =>
  sent !== null &&
  sent.path === route.path &&
  route.names.every((name) => (params?.[name] ?? sent.params[name]) === sent.params[name]);

/** The origin used for a request without a `Host` header; no real host has this name (RFC 2606, section 2). */
const NOWHERE = "http://host.invalid";

/** Whether a URL has the origin of a request without a host. */
export const isNowhere = (url: string): boolean => url.startsWith(`${NOWHERE}/`);

/**
 * A request without a `Host` header has a bare path as its URL. This gives it an absolute URL, which is parsed
 * like all others.
 */
export const placeTarget = (request: Request): void => {
  if (!request.url.startsWith("/")) return;
  const { href } = new URL(NOWHERE + request.url);
  Object.defineProperty(request, "url", { value: href });
};
