import { expect, test } from "bun:test";
import fc from "fast-check";
import { addressFromBytes } from "../../../core/domain/address.ts";
import { recentAddress } from "../../../core/domain/recent-address.ts";
import { bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

test("a kept address is the one its bytes encode to, even when several addresses share its bucket", () => {
  // Few prefixes and few suffixes, so that most addresses share a bucket with another one or repeat.
  const anyBytes = fc
    .tuple(fc.constantFrom(0, 1, 255), fc.constantFrom(0, 4, 8), bytesOfLength(2))
    .map(([first, second, end]) => {
      const bytes = new Uint8Array(32);
      bytes.set([first, second]);
      bytes.set(
        end.map((byte) => byte & 3),
        30,
      );
      return bytes;
    });
  fc.assert(
    fc.property(fc.array(anyBytes, { minLength: 1, maxLength: 60 }), fc.nat(7), (all, offset) => {
      for (const bytes of all) {
        const around = new Uint8Array(40).fill(7);
        around.set(bytes, offset);
        expect(recentAddress(around, offset)).toBe(addressFromBytes(bytes));
      }
    }),
    runs(300),
  );
});

test("changing the bytes afterwards does not change the kept address", () => {
  const bytes = new Uint8Array(32).fill(9);
  const expected = addressFromBytes(bytes);
  expect(recentAddress(bytes, 0)).toBe(expected);
  bytes.fill(8, 2);
  expect(recentAddress(bytes, 0)).toBe(addressFromBytes(bytes));
  expect(recentAddress(new Uint8Array(32).fill(9), 0)).toBe(expected);
});
