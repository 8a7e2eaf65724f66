import { isIP } from "node:net";
import { type IsTrustedProxy, plainAddress } from "../request/request-origin.ts";

/** Who sent a request on a connection with this peer, as the rate limiter's key. */
export type ClientKey = (request: Request, peer: string | null) => string;

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
