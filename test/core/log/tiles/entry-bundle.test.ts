import { expect, test } from "bun:test";
import fc from "fast-check";
import { decodeEntryBundle, encodeEntryBundle } from "../../../../core/log/tiles/entry-bundle.ts";
import { runs } from "../../../arbitraries/runs.ts";

const entries = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 256 });

test("encode and decode are inverse", () => {
  fc.assert(
    fc.property(entries, (leaves) => {
      const bytes = encodeEntryBundle(leaves);
      expect(decodeEntryBundle(bytes, leaves.length)).toEqual({ value: leaves });
      expect(decodeEntryBundle(bytes, leaves.length + 1)).toHaveProperty("fault");
    }),
    runs(50),
  );
});

test("each entry follows its length, two bytes with the higher one first", () => {
  const long = new Uint8Array(0x0102).fill(7);
  expect(encodeEntryBundle([Uint8Array.of(9), new Uint8Array(), long])).toEqual(
    Uint8Array.of(0, 1, 9, 0, 0, 1, 2, ...long),
  );
});

test("a bundle that ends inside a length or an entry is refused", () => {
  expect(decodeEntryBundle(Uint8Array.of(0, 1, 9, 0), 2)).toEqual({ fault: "a length is cut off" });
  expect(decodeEntryBundle(Uint8Array.of(0, 1, 9, 0, 2, 1), 2)).toEqual({
    fault: "an entry is cut off",
  });
});

test("an entry has at most 65,535 bytes", () => {
  const longest = new Uint8Array(65_535);
  expect(decodeEntryBundle(encodeEntryBundle([longest]), 1)).toEqual({ value: [longest] });
  expect(() => encodeEntryBundle([new Uint8Array(65_536)])).toThrow(RangeError);
});
