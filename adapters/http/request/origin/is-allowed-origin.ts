const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request with this `Origin` may act: a program's, which has none, a listed origin's, or a page's on the same machine. `*` lists nobody.
 * The request's own `Host` proves nothing: a stranger's name can lead to this machine (DNS rebinding).
 */
export const isAllowedOrigin = (origin: string | null, listed: ReadonlyArray<string>): boolean => {
  if (origin === null) return true;
  if (origin === "*") return false;
  return listed.includes(origin) || LOOPBACK.has(URL.parse(origin)?.hostname ?? "");
};
