import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatUnits,
  formatUsdc,
  MAX_U64,
  parseAmount,
  parseUnits,
} from "../../../core/domain/amount.ts";
import { anyU64 } from "../../arbitraries/ledger-values.ts";
import { runs } from "../../arbitraries/runs.ts";

const reference = (candidate: string): bigint | undefined => {
  if (candidate === "" || candidate.split("").some((c) => !"0123456789".includes(c)))
    return undefined;
  const value = BigInt(candidate);
  const inRange = value >= 1n && value < 1n << 64n;
  return inRange && String(value) === candidate ? value : undefined;
};

describe("amount", () => {
  test("a decimal of at least one base unit is read back from what people are shown", () => {
    fc.assert(
      fc.property(anyU64, fc.integer({ min: 0, max: 18 }), (units, decimals) => {
        expect(parseUnits(formatUnits(units, decimals), decimals)).toBe(
          units === 0n ? undefined : units,
        );
      }),
      runs(500),
    );
  });

  test.each(["", "0", "0.0", "-1", "+1", "1.", ".5", "01", "1e3", "1,5", "1.1234567", " 1"])(
    "%p is no amount of six decimals",
    (text) => {
      expect(parseUnits(text, 6)).toBeUndefined();
    },
  );

  test("every amount of at least 1 is read back from its own digits", () => {
    fc.assert(
      fc.property(anyU64, (amount) => {
        expect(parseAmount(amount.toString())).toBe(amount === 0n ? undefined : amount);
      }),
      runs(500),
    );
  });

  test("a text is an amount exactly when it is the canonical form of an integer from 1 to 2^64-1", () => {
    const digitLike = fc.constantFrom(
      ..."0123456789".split(""),
      "0",
      "0",
      "-",
      "+",
      ".",
      "e",
      "x",
      "_",
      " ",
    );
    const text = fc.oneof(
      fc.string({ unit: digitLike, maxLength: 24 }),
      fc.bigInt({ min: MAX_U64 - 5n, max: MAX_U64 + 5n }).map(String),
      fc.bigInt({ min: -5n, max: 10n ** 21n }).map(String),
    );
    fc.assert(
      fc.property(text, (candidate) => {
        expect(parseAmount(candidate)).toBe(reference(candidate));
      }),
      runs(2000),
    );
  });

  test("no other form of a number is accepted", () => {
    const signs = "0 00 01 007 -1 +1 -0 1.0 1. .1 1e3 1E3 0x10 0b1 1n 1_000 1,000 NaN Infinity";
    const spaces = ["", " 1", "1 ", "1\n", "\n1", "1\0", "\uff11", "\u0661"];
    const long = [
      "18446744073709551616",
      "9".repeat(20),
      `1${"0".repeat(20)}`,
      "1".repeat(100_000),
    ];
    const refused = [...signs.split(" "), ...spaces, ...long];
    for (const text of refused) expect(parseAmount(text)).toBeUndefined();
    expect(parseAmount("18446744073709551615")).toBe(MAX_U64);
  });

  test("the rendering has six decimals, no leading zeros, and keeps every digit", () => {
    fc.assert(
      fc.property(anyU64, (amount) => {
        const text = formatUsdc(amount);
        expect(text).toMatch(/^(0|[1-9][0-9]*)\.[0-9]{6}$/);
        expect(BigInt(text.replace(".", ""))).toBe(amount);
      }),
      runs(500),
    );
    expect(formatUsdc(0n)).toBe("0.000000");
    expect(formatUsdc(1n)).toBe("0.000001");
    expect(formatUsdc(999_999n)).toBe("0.999999");
    expect(formatUsdc(1_000_000n)).toBe("1.000000");
    expect(formatUsdc(MAX_U64)).toBe("18446744073709.551615");
  });
});
