import { BlockList, isIP } from "node:net";

/** Whether the connection with this peer comes from a proxy whose `X-Forwarded-*` headers are trusted. */
export type IsTrustedProxy = (address: string) => boolean;

/** An IPv4-mapped IPv6 address as the IPv4 address it stands for (RFC 4291, section 2.5.5.2). */
export const plainAddress = (address: string): string =>
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
  return (address) => {
    const plain = plainAddress(address);
    const family = familyOf(plain);
    return family !== undefined && list.check(plain, family);
  };
};
