import { expect, test } from "bun:test";
import fc from "fast-check";
import { unitsOf } from "../../../client/pay/payment-terms.ts";
import { SettlementError } from "../../../client/settlement-error.ts";
import { formatUnits } from "../../../core/domain/amount.ts";
import { runs } from "../../arbitraries/runs.ts";

const MAX_U64 = 2n ** 64n - 1n;

test("the units of a printed amount are the amount, of every number of decimals", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: MAX_U64 }), fc.nat({ max: 18 }), (units, decimals) => {
      expect(unitsOf(formatUnits(units, decimals), decimals)).toBe(units);
    }),
    runs(300),
  );
});

test("an amount may leave out decimals, and never has more than the mint", () => {
  expect(unitsOf("1.5", 6)).toBe(1_500_000n);
  expect(unitsOf("1", 6)).toBe(1_000_000n);
  expect(unitsOf("0.000001", 6)).toBe(1n);
  expect(() => unitsOf("0.0000010", 6)).toThrow("no amount of a mint with 6 decimals");
  expect(unitsOf("18446744073709.551615", 6)).toBe(MAX_U64);
});

const WRONG = [
  "",
  "0",
  "0.0",
  "-1",
  "+1",
  "1.",
  ".5",
  "01",
  "1,5",
  "1e3",
  " 1",
  "1\n",
  "0x1",
  "١",
  "18446744073709.551616",
];
for (const amount of WRONG)
  test(`${JSON.stringify(amount)} is no amount`, () => {
    expect(() => unitsOf(amount, 6)).toThrow(SettlementError);
  });
