import { expect, test } from "bun:test";
import fc from "fast-check";
import { addressPrefix } from "../../../adapters/sqlite/address-prefix.ts";
import { type Address, addressFromBytes, ZERO_ADDRESS } from "../../../core/domain/address.ts";
import { bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

/** Addresses of every length, from 32 characters to 44. */
const anyAddress: fc.Arbitrary<Address> = fc
  .tuple(bytesOfLength(32), fc.nat({ max: 32 }))
  .map(([bytes, zeros]) => addressFromBytes(bytes.map((byte, at) => (at < zeros ? 0 : byte))));

test("prefixes are in the order of the addresses, as far as they tell them apart", () => {
  fc.assert(
    fc.property(anyAddress, anyAddress, (one, other) => {
      const difference = addressPrefix(one) - addressPrefix(other);
      if (difference < 0) expect(one < other).toBe(true);
      else if (difference > 0) expect(one > other).toBe(true);
      else expect(one.slice(0, 8)).toBe(other.slice(0, 8));
    }),
    runs(1000),
  );
});

test("a prefix fits six bytes", () => {
  const last = addressFromBytes(new Uint8Array(32).fill(255));
  fc.assert(
    fc.property(anyAddress, (address) => {
      expect(addressPrefix(address)).toBeLessThan(2 ** 47);
    }),
    { ...runs(200), examples: [[ZERO_ADDRESS], [last]] },
  );
});
