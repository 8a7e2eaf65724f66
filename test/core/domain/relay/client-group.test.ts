import { expect, test } from "bun:test";
import fc from "fast-check";
import { clientGroup } from "../../../../core/domain/relay/relay-policy.ts";

test("an IPv6 client counts as its /64, however the address is written", () => {
  const cases = {
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:0DB8:0001:0002:ffff::1": "2001:db8:1:2::/64",
    "2001:db8::1": "2001:db8:0:0::/64",
    "fe80::1%eth0": "fe80:0:0:0::/64",
    "::1": "0:0:0:0::/64",
    "::": "0:0:0:0::/64",
    "64:ff9b::192.0.2.33": "64:ff9b:0:0::/64",
  };
  for (const [written, group] of Object.entries(cases)) expect(clientGroup(written)).toBe(group);
});

test("an IPv4 client counts by itself, also when mapped into IPv6", () => {
  for (const written of ["192.0.2.7", "::ffff:192.0.2.7", "::FFFF:c000:207"]) {
    expect(clientGroup(written)).toBe("192.0.2.7");
  }
});

test("any other text is its own group", () => {
  const others = [
    "",
    "unix",
    ":::1",
    "1::2::3",
    "1:2:3",
    "g::1",
    "::1.2.3.256",
    "1:2:3:4:5:6:7:8:9",
  ];
  for (const text of others) expect(clientGroup(text)).toBe(text);
});

test("two addresses share a group exactly when their first 64 bits agree", () => {
  const ipv6 = fc.ipV6().filter((address) => !/^(0*:)*:?(0*:)*ffff:/i.test(address));
  fc.assert(
    fc.property(ipv6, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (address, host) => {
      const group = clientGroup(address);
      expect(group).toEndWith("::/64");
      const prefix = group.slice(0, -"::/64".length);
      const hex = host.toString(16).padStart(16, "0");
      const sibling = [prefix, ...(hex.match(/.{4}/g) ?? [])].join(":");
      expect(new URL(`http://[${sibling}]`).hostname).toBeString();
      expect(clientGroup(sibling)).toBe(group);
      const [first = "0", ...others] = prefix.split(":");
      const changed = (Number.parseInt(first, 16) ^ 1).toString(16);
      expect(clientGroup([changed, ...others, "1", "2", "3", "4"].join(":"))).not.toBe(group);
    }),
  );
});
