import { expect, test } from "bun:test";
import fc from "fast-check";
import { hash32FromBytes, hash32ToBytes, parseHash32 } from "../../../core/domain/hash32.ts";
import { bytesOfLength } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

test("32 bytes are 64 lower-case hex digits, read in either case", () => {
  fc.assert(
    fc.property(bytesOfLength(32), (bytes) => {
      const hash = hash32FromBytes(bytes);
      expect(hash as string).toBe(Buffer.from(bytes).toString("hex"));
      expect(hash32ToBytes(hash)).toEqual(bytes);
      expect(parseHash32(hash)).toBe(hash);
      expect(parseHash32(hash.toUpperCase())).toBe(hash);
    }),
    runs(200),
  );
});

test("anything but 64 hex digits is refused", () => {
  const digits = "0123456789abcdef".repeat(4);
  const refused = [
    "",
    digits.slice(1),
    `${digits}0`,
    `0x${digits.slice(2)}`,
    `${digits}\n`,
    ` ${digits.slice(1)}`,
    `${digits.slice(1)}g`,
    `${digits.slice(1)}\uff11`,
  ];
  for (const text of refused) expect(parseHash32(text)).toBeUndefined();
  expect(() => hash32FromBytes(new Uint8Array(31))).toThrow("32 bytes");
});
