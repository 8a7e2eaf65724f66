/** The eight 16-bit groups of an IPv6 address (RFC 4291, section 2.2), undefined for any other text. */
const ipv6Groups = (text: string): ReadonlyArray<number> | undefined => {
  const dotted = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text);
  const bytes = dotted?.slice(2).map(Number) ?? [];
  if (bytes.some((byte) => byte > 255)) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  const tail = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
  const halves = (dotted === null ? text : `${dotted[1]}${tail}`).split("::");
  if (halves.length > 2) return undefined;
  const [head = [], rest = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - rest.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined;
  const groups = [...head, ...Array.from({ length: missing }, () => "0"), ...rest];
  return groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))
    ? groups.map((group) => Number.parseInt(group, 16))
    : undefined;
};

/**
 * The client that a network address counts as. An IPv6 address counts as its /64, because one subscriber holds at least
 * that many. An IPv4-mapped one (`::ffff:192.0.2.1`) counts as the IPv4 address, and any other text as itself.
 */
export const clientGroup = (client: string): string => {
  // Most requests come from an IPv4 address, and parsing costs a thirtieth of a short one.
  if (!client.includes(":")) return client;
  const groups = ipv6Groups(client.replace(/%.*$/s, ""));
  if (groups === undefined) return client;
  const [g0, g1, g2, g3, g4, g5, g6 = 0, g7 = 0] = groups;
  if (g5 === 0xffff && [g0, g1, g2, g3, g4].every((group) => group === 0)) {
    return [g6 >> 8, g6 & 255, g7 >> 8, g7 & 255].join(".");
  }
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
};
