/**
 * The operation path, such as `/v1/escrows/{pda}`, that the bytes of a request's target match, with the
 * texts of its parameters; null where they match none.
 */
export type SentTarget = {
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
} | null;

/**
 * Whether the route that was found by a request's URL is the one that its target matches as it was sent.
 * They differ where the URL's parser has taken `..` or a backslash for a step, which a proxy in front may
 * have read otherwise. A parameter that is null has no text, and none is claimed for it.
 */
export const isAsSent = (
  sent: SentTarget,
  route: { readonly path: string; readonly names: ReadonlyArray<string> },
  params: Readonly<Record<string, string | null>> | undefined,
): boolean =>
  sent !== null &&
  sent.path === route.path &&
  route.names.every((name) => (params?.[name] ?? sent.params[name]) === sent.params[name]);

/** Stands for the origin of a request without a `Host` header; no host has this name (RFC 2606, section 2). */
const NOWHERE = "http://host.invalid";

/** Whether a URL is that of a request which names no host. */
export const isNowhere = (url: string): boolean => url.startsWith(`${NOWHERE}/`);

/**
 * Gives a request whose URL is a bare path, since it has no `Host` header, an absolute one that is parsed
 * as all others are.
 */
export const placeTarget = (request: Request): void => {
  if (!request.url.startsWith("/")) return;
  const { href } = new URL(NOWHERE + request.url);
  Object.defineProperty(request, "url", { value: href });
};
