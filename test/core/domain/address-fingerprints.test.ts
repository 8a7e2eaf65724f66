import { expect, test } from "bun:test";
import fc from "fast-check";
import { AddressFingerprints } from "../../../core/domain/address-fingerprints.ts";
import type { Address } from "../../../core/domain/address.ts";
import { anyAddress } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

test("fingerprints behave as a set of addresses", () => {
  const few = fc.array(anyAddress, { maxLength: 20 });
  fc.assert(
    fc.property(few, few, (added, others) => {
      const fingerprints = new AddressFingerprints();
      const set = new Set<Address>();
      for (const address of [...added, ...others.slice(0, 3), ...added]) {
        expect(fingerprints.add(address)).toBe(!set.has(address));
        set.add(address);
      }
      expect(fingerprints.size).toBe(set.size);
      for (const address of others) expect(fingerprints.has(address)).toBe(set.has(address));
    }),
    runs(100),
  );
});

test("a hundred thousand addresses have a hundred thousand fingerprints", () => {
  const fingerprints = new AddressFingerprints();
  const name = (n: number) => `So1111111111111111111111111111111111${n}` as Address;
  for (let n = 0; n < 100_000; n++) fingerprints.add(name(n));
  expect(fingerprints.size).toBe(100_000);
  expect(fingerprints.has(name(99_999))).toBe(true);
  expect(fingerprints.has(name(100_000))).toBe(false);
});
