import { expect, test } from "bun:test";
import fc from "fast-check";
import { ObjectEnd } from "../../../../adapters/solana-rpc/accounts/scan-body.ts";
import { runs } from "../../../arbitraries/runs.ts";

const anyText = fc.string({ unit: fc.constantFrom(...'\\\\\\"{}[],:aé'.split("")) });
const anyObject = fc
  .dictionary(anyText, fc.oneof(anyText, fc.jsonValue({ maxDepth: 4 })))
  .map((value) => JSON.stringify(value));

/** The end of the object at the start of these bytes, which arrive in pieces cut at these indexes. */
const endIn = (bytes: Buffer, cuts: ReadonlyArray<number>): number => {
  const place = new ObjectEnd();
  const places = [...new Set(cuts.map((cut) => cut % bytes.length))].sort((a, b) => a - b);
  let from = 0;
  for (const to of [...places, bytes.length]) {
    const end = place.find(bytes.subarray(from, to), 0);
    if (end >= 0) return from + end;
    from = to;
  }
  return -1;
};

test("an object's end is found wherever its bytes are cut, with any strings and escapes", () => {
  fc.assert(
    fc.property(anyObject, anyText, fc.array(fc.nat(), { maxLength: 12 }), (text, rest, cuts) => {
      const length = Buffer.from(text).length;
      expect(endIn(Buffer.from(text + rest), cuts)).toBe(length);
      expect(endIn(Buffer.from(text).subarray(0, length - 1), cuts)).toBe(-1);
    }),
    runs(1000),
  );
});

test("an object's end is found byte by byte, and from any index of a piece", () => {
  fc.assert(
    fc.property(anyObject, anyText, (text, before) => {
      const bytes = Buffer.from(before + text);
      const at = Buffer.from(before).length;
      expect(new ObjectEnd().find(bytes, at)).toBe(bytes.length);
      const every = Array.from({ length: bytes.length }, (_, i) => i);
      expect(endIn(Buffer.from(text), every)).toBe(bytes.length - at);
    }),
    runs(300),
  );
});
