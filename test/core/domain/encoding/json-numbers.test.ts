import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  isCanonicalNumber,
  isExactNumber,
  jsonNumbers,
} from "../../../../core/domain/encoding/strict-json.ts";
import { anyCharacter } from "../../../arbitraries/any-character.ts";
import { numberText } from "../../../arbitraries/json-text.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { referenceIsExact } from "./reference-json.ts";

const finite = fc.double({ noDefaultInfinity: true, noNaN: true });

describe("numbers of a JSON text", () => {
  test("they are found at any position, and digits in strings are not", () => {
    const text = String.raw`{"a1":[-1,2.50,"3",{"\"4":5e6}],"\\":7E-8,"9":"\\\"10"}`;
    expect(jsonNumbers(text)).toEqual(["-1", "2.50", "5e6", "7E-8"]);
    expect(jsonNumbers("0")).toEqual(["0"]);
    expect(jsonNumbers('"0"')).toEqual([]);
  });

  test("every number is found, in order, in any JSON", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string({ unit: anyCharacter }), finite)), (pairs) => {
        const text = JSON.stringify(pairs.map(([name, number]) => ({ [name]: [name, number] })));
        expect(jsonNumbers(text).map(Number)).toEqual(
          pairs.map(([, number]) => (number === 0 ? 0 : number)),
        );
      }),
      runs(200),
    );
  });
});

describe("exact numbers", () => {
  test("a double as ECMAScript writes it is exact and canonical; with extra zeros it is exact but not canonical", () => {
    fc.assert(
      fc.property(finite, (number) => {
        const token = JSON.stringify(number);
        expect([token, isExactNumber(token), isCanonicalNumber(token)]).toEqual([
          token,
          true,
          true,
        ]);
        const padded = /[.e]/.test(token) ? token.replace(/^(-?)/, "$10") : `${token}.000`;
        expect(isExactNumber(padded)).toBe(true);
      }),
      runs(500),
    );
  });

  test("a number is exact when arithmetic on whole numbers says so", () => {
    fc.assert(
      fc.property(numberText, (token) => {
        expect([token, isExactNumber(token)]).toEqual([token, referenceIsExact(token)]);
      }),
      runs(2000),
    );
  });

  test.each(["1.0", "10e-1", "-0", "0e5", "100", "1E2", "0.10", "-2.50e+3", "1e21"])(
    "%s survives being read",
    (token) => {
      expect(isExactNumber(token)).toBe(true);
    },
  );

  test.each([
    "0.1000000000000000055",
    "9007199254740993",
    "4503599627370496.3",
    "1e-400",
    "1e400",
    "-1e999999999999999999999",
    "123456789012345678901",
    "0.30000000000000004441",
  ])("%s does not", (token) => {
    expect(isExactNumber(token)).toBe(false);
  });

  test.each(["1.0", "-0", "1e3", "1E400", "0.10", "1e21"])("%s is not canonical", (token) => {
    expect(isCanonicalNumber(token)).toBe(false);
  });

  test("a number of 200,000 digits is judged at once", () => {
    const zeros = "0".repeat(200_000);
    expect(isExactNumber(`1${zeros}1`)).toBe(false);
    expect(isExactNumber(`1.${zeros}1`)).toBe(false);
    expect(isExactNumber(`1.${zeros}`)).toBe(true);
    expect(isExactNumber(`1e-${zeros}5`)).toBe(true);
  });
});
