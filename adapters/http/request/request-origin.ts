import { BlockList, isIP } from "node:net";
import { isNowhere } from "./query-string.ts";

/**
 * Labels of a name, an IPv4 address, or the content of brackets, then an optional port. At most 253 characters (RFC
 * 1035, section 2.3.4).
 */
const HOST =
  /^(?=.{1,253}(?::|$))(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*\.?|\[[0-9a-f:.]{2,45}\])(?::[0-9]{0,5})?$/i;

/** The last valid host text. Callers of a service mostly send the same one, and parsing takes 1% of a short request. */
let lastHost: string | undefined;

/**
 * Whether a text is a host, with or without a port, that a URL can hold (RFC 9110, section 7.2). `_` is
 * allowed because proxies send the names of their upstreams. Other characters that RFC 3986 allows are refused, and
 * a comma also stands between the values of repeated headers.
 */
const isHost = (text: string): boolean => {
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

/** Whether the connection with this peer comes from a proxy whose `X-Forwarded-*` headers are trusted. */
type IsTrustedProxy = (address: string) => boolean;

/** An IPv4-mapped IPv6 address as the IPv4 address it stands for (RFC 4291, section 2.5.5.2). */
const plainAddress = (address: string): string =>
  address.toLowerCase().startsWith("::ffff:") && isIP(address.slice(7)) === 4
    ? address.slice(7)
    : address;

const familyOf = (address: string): "ipv4" | "ipv6" | undefined => {
  const version = isIP(address);
  return version === 4 ? "ipv4" : version === 6 ? "ipv6" : undefined;
};

/**
 * Trusts the proxies at these addresses and CIDR blocks. @throws Error that names an entry which is neither,
 * for configuration to report.
 */
export const trustedProxies = (entries: ReadonlyArray<string>): IsTrustedProxy => {
  const list = new BlockList();
  for (const entry of entries) {
    const [network = "", bits, ...rest] = entry.split("/");
    const family = familyOf(network);
    const most = family === "ipv4" ? 32 : 128;
    const prefix = bits === undefined ? most : /^[0-9]{1,3}$/.test(bits) ? Number(bits) : -1;
    if (family === undefined || rest.length > 0 || prefix < 0 || prefix > most)
      throw new Error(`not an IP address or CIDR block: ${entry}`);
    list.addSubnet(network, prefix, family);
  }
  // Looking an address up costs a fiftieth of a short request.
  if (entries.length === 0) return () => false;
  return (address) => {
    const plain = plainAddress(address);
    const family = familyOf(plain);
    return family !== undefined && list.check(plain, family);
  };
};

/**
 * Scheme, host and port under which a caller reached the service, without a slash at its end: those of
 * the request, or behind a trusted proxy those that it forwards. Empty when the request names no host, so that
 * links are relative to the root.
 */
export const requestOrigin =
  (isTrusted: IsTrustedProxy) =>
  (request: Request, peer: string | null): string => {
    const own = isNowhere(request.url) ? null : URL.parse(request.url);
    const forwarded = (name: string): string | undefined =>
      peer !== null && isTrusted(peer)
        ? request.headers.get(name)?.split(",")[0]?.trim()
        : undefined;
    const scheme = forwarded("x-forwarded-proto");
    const named = forwarded("x-forwarded-host");
    const outerScheme =
      scheme === "http" || scheme === "https" ? scheme : own?.protocol.slice(0, -1);
    const host = named !== undefined && isHost(named) ? named : own?.host;
    return host === undefined ? "" : `${outerScheme ?? "http"}://${host}`;
  };

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request with this `Origin` may act. Programs send none and may. Pages may when their origin is listed, or
 * when they are on the same machine. `*` in the list does not count here. The request's own `Host` proves nothing: a
 * stranger's name can lead to this machine (DNS rebinding).
 */
export const isAllowedOrigin = (origin: string | null, listed: ReadonlyArray<string>): boolean => {
  if (origin === null) return true;
  if (origin === "*") return false;
  return listed.includes(origin) || LOOPBACK.has(URL.parse(origin)?.hostname ?? "");
};

/** Who sent a request on a connection with this peer, as the rate limiter's key. */
type ClientKey = (request: Request, peer: string | null) => string;

/**
 * Tells clients apart by address: the connection's peer, or behind trusted proxies the last address of
 * `X-Forwarded-For` that is not itself one of them. All requests without a peer count as one client.
 */
export const clientKey =
  (isTrusted: IsTrustedProxy): ClientKey =>
  (request, peer) => {
    if (peer === null) return "unknown";
    let client = plainAddress(peer);
    if (!isTrusted(client)) return client;
    const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").toReversed();
    for (const hop of hops) {
      const address = plainAddress(hop.trim());
      if (isIP(address) === 0) break;
      client = address;
      if (!isTrusted(address)) break;
    }
    return client;
  };
