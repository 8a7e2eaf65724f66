import type { IsTrustedProxy } from "./trusted-proxies.ts";

/** A host name, an IPv4 address or an IPv6 address in brackets, with or without a port. */
const HOST = /^(?:[a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/i;

/**
 * Scheme, host and port under which a caller reached the service, without a slash at its end: those of
 * the request, or behind a trusted proxy those it forwards. Empty where a `Host` header is no host, so that
 * links begin at the root of wherever that is.
 */
export const requestOrigin =
  (isTrusted: IsTrustedProxy) =>
  (request: Request, peer: string | null): string => {
    const own = URL.parse(request.url);
    const forwarded = (name: string): string | undefined =>
      peer !== null && isTrusted(peer)
        ? request.headers.get(name)?.split(",")[0]?.trim()
        : undefined;
    const scheme = forwarded("x-forwarded-proto");
    const named = forwarded("x-forwarded-host");
    const outerScheme =
      scheme === "http" || scheme === "https" ? scheme : own?.protocol.slice(0, -1);
    const host = named !== undefined && HOST.test(named) ? named : own?.host;
    return host === undefined ? "" : `${outerScheme ?? "http"}://${host}`;
  };
