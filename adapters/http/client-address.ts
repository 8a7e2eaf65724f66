import { BlockList, isIP } from "node:net";

/** Who sent a request, as the rate limiter's key. */
export type ClientKey = (request: Request, peer: string | null) => string;

const UNKNOWN = "unknown";

/** An IPv4-mapped IPv6 address as the IPv4 address it stands for (RFC 4291, section 2.5.5.2). */
const plain = (address: string): string =>
  address.toLowerCase().startsWith("::ffff:") && isIP(address.slice(7)) === 4
    ? address.slice(7)
    : address;

const familyOf = (address: string): "ipv4" | "ipv6" | undefined => {
  const version = isIP(address);
  return version === 4 ? "ipv4" : version === 6 ? "ipv6" : undefined;
};

/**
 * The addresses and CIDR blocks whose `X-Forwarded-For` is believed. @throws Error naming the entry that
 * is neither, for configuration to report.
 */
export const trustedProxies = (entries: ReadonlyArray<string>): BlockList => {
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
  return list;
};

/**
 * Tells clients apart by address: the connection's peer, or behind trusted proxies the last address of
 * `X-Forwarded-For` that is not itself one of them.
 */
export const clientKey = (trusted: BlockList): ClientKey => {
  const isTrusted = (address: string): boolean => {
    const family = familyOf(address);
    return family !== undefined && trusted.check(address, family);
  };
  return (request, peer) => {
    if (peer === null) return UNKNOWN;
    let client = plain(peer);
    if (isTrusted(client)) {
      const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").toReversed();
      for (const hop of hops) {
        const address = plain(hop.trim());
        if (familyOf(address) === undefined) break;
        client = address;
        if (!isTrusted(address)) break;
      }
    }
    return client;
  };
};
