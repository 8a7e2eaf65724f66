/** Labels of a name, an IPv4 address, or the content of brackets, then an optional port. 253: RFC 1035, section 2.3.4. */
const HOST =
  /^(?=.{1,253}(?::|$))(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{0,5})?$/i;

/** The last valid host text. Callers of a service mostly send the same one, and parsing takes 1% of a short request. */
let lastHost: string | undefined;

/**
 * Whether a text is a host, with or without a port, that a URL can hold (RFC 9110, section 7.2). `_` is
 * allowed because proxies send the names of their upstreams. Other characters that RFC 3986 allows are refused, and
 * a comma also stands between the values of repeated headers.
 */
export const isHost = (text: string): boolean => {
  if (text === lastHost) return true;
  if (!HOST.test(text) || !URL.canParse(`http://${text}`)) return false;
  lastHost = text;
  return true;
};

/**
 * Whether a request's `Host` header is one host, or is left out as HTTP/1.0 allows (RFC 9112, section 3.2):
 * not malformed, empty or repeated.
 */
export const hasSoundHost = (request: Request): boolean => {
  const host = request.headers.get("host");
  return host === null || isHost(host);
};
