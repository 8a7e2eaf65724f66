import { isHost } from "./is-host.ts";
import { isNowhere } from "../sent-target.ts";
import type { IsTrustedProxy } from "./trusted-proxies.ts";

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
