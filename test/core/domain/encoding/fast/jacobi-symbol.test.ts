import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  jacobiSymbol,
  LIMB_BITS,
  LIMBS,
} from "../../../../../core/domain/encoding/fast/own-edwards-point.ts";
import { runs } from "../../../../arbitraries/runs.ts";

const P = 2n ** 255n - 19n;

const limbsOf = (value: bigint): ReadonlyArray<number> =>
  Array.from({ length: LIMBS }, (_, i) =>
    Number(BigInt.asUintN(LIMB_BITS, value >> BigInt(i * LIMB_BITS))),
  );

/** The Jacobi symbol by its textbook rules on bigints, one halving or reduction at a time. */
const reference = (numerator: bigint, modulus: bigint): number => {
  let [a, n, symbol] = [numerator % modulus, modulus, 1];
  while (a !== 0n) {
    while (a % 2n === 0n) {
      a /= 2n;
      if (n % 8n === 3n || n % 8n === 5n) symbol = -symbol;
    }
    [a, n] = [n, a];
    if (a % 4n === 3n && n % 4n === 3n) symbol = -symbol;
    a %= n;
  }
  return n === 1n ? symbol : 0;
};

const agree = (numerator: bigint, modulus: bigint): void => {
  const symbol: number = jacobiSymbol(limbsOf(numerator), limbsOf(modulus));
  expect([numerator, modulus, symbol]).toEqual([numerator, modulus, reference(numerator, modulus)]);
};

const upTo = (bits: number) => fc.bigInt({ min: 0n, max: 2n ** BigInt(bits) - 1n });
const bits = fc.integer({ min: 1, max: 255 });
const anyNumerator = bits.chain(upTo);
const anyModulus = bits.chain(upTo).map((value) => value | 1n);

describe("Jacobi symbol", () => {
  test("of any number and any odd modulus", () => {
    fc.assert(fc.property(anyNumerator, anyModulus, agree), runs(2000));
  });

  test("of numbers so close to a multiple of the modulus that their leading bits do not decide", () => {
    fc.assert(
      fc.property(
        anyModulus,
        fc.integer({ min: 0, max: 254 }),
        fc.bigInt({ min: -40n, max: 40n }),
        fc.bigInt({ min: 1n, max: 5n }),
        (modulus, shift, difference, factor) => {
          const near = ((modulus * factor) << BigInt(shift % 40)) + difference;
          if (near >= 0n && near < 2n ** 256n) agree(near, modulus);
          const half = (modulus >> BigInt(shift)) + difference;
          if (half >= 0n) agree(half, modulus);
        },
      ),
      runs(3000),
    );
  });

  test("of every special number modulo 2^255 - 19", () => {
    for (let shift = 0n; shift < 255n; shift++) {
      for (const value of [1n << shift, (1n << shift) - 1n, P - (1n << shift), P >> shift]) {
        agree(value, P);
        agree(P - value, P);
      }
    }
    for (let small = 0n; small < 40n; small++) {
      agree(small, P);
      agree(P + small, P);
      agree(P - small, P);
    }
  });

  test("Euler's criterion agrees modulo 2^255 - 19", () => {
    const power = (base: bigint, exponent: bigint): bigint => {
      let [result, square] = [1n, base];
      for (let rest = exponent; rest > 0n; rest >>= 1n) {
        if (rest & 1n) result = (result * square) % P;
        square = (square * square) % P;
      }
      return result;
    };
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: P - 1n }), (value) => {
        const symbol: number = jacobiSymbol(limbsOf(value), limbsOf(P));
        expect(symbol).toBe(power(value, (P - 1n) / 2n) === 1n ? 1 : -1);
      }),
      runs(100),
    );
  });
});
