import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { canonicalJsonBytes, type Json } from "../../../../core/domain/encoding/canonical-json.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { runs } from "../../../arbitraries/runs.ts";
import rfc8785 from "../../../vectors/rfc8785.json" with { type: "json" };
import { canonicalText } from "./canonical-text.ts";

const text = (value: Json): string => new TextDecoder().decode(canonicalJsonBytes(value));

const number = (hex: string): number => Buffer.from(hex, "hex").readDoubleBE(0);

const anyJson = fc
  .jsonValue({ stringUnit: anyCharacter, maxDepth: 4 })
  .map((value) => value as Json);

describe("canonical JSON", () => {
  test("RFC 8785's own object, sorting and numbers come out as printed in the RFC", () => {
    const sample = JSON.parse(rfc8785.sample.input) as Json;
    expect(Buffer.from(canonicalJsonBytes(sample)).toString("hex")).toBe(rfc8785.sample.outputHex);
    const sorted = JSON.parse(text(JSON.parse(rfc8785.sorting.input) as Json)) as object;
    const keys = text(JSON.parse(rfc8785.sorting.input) as Json);
    const places = rfc8785.sorting.values.map((value) => keys.indexOf(`"${value}"`));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(Object.keys(sorted)).toHaveLength(rfc8785.sorting.values.length);
    for (const [hex, printed] of rfc8785.numbers)
      expect(text(number(hex ?? ""))).toBe(printed ?? "");
    for (const hex of rfc8785.notNumbers) expect(() => text(number(hex))).toThrow();
  });

  test("a canonicalizer written from the RFC agrees on any value, and the bytes read back the same", () => {
    fc.assert(
      fc.property(anyJson, (value) => {
        const bytes = text(value);
        expect(bytes).toBe(canonicalText(value));
        expect(text(JSON.parse(bytes) as Json)).toBe(bytes);
      }),
      runs(500),
    );
  });

  test("the order of members in the input does not matter", () => {
    const members = fc.uniqueArray(fc.tuple(fc.string({ unit: anyCharacter }), anyJson), {
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(members, (entries) => {
        const forward = Object.fromEntries(entries);
        const backward = Object.fromEntries(entries.toReversed());
        expect(text(backward)).toBe(text(forward));
      }),
      runs(200),
    );
  });

  test("a value without a JSON form is refused, not skipped", () => {
    const lone: ReadonlyArray<unknown> = ["\ud800", "a\udc00", { "\ud83c": 1 }, ["\udf38"]];
    const others = [Number.NaN, Infinity, [[-Infinity]], 1n, undefined, () => 1, Symbol("x")];
    for (const value of [...lone, ...others])
      expect(() => canonicalJsonBytes(value as Json)).toThrow();
  });
});
