import { expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { isSmallOrderAddress } from "../../../../core/protocol/crypto/curve-point.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { canVerifyUnder } from "../../../../core/protocol/crypto/strict-ed25519.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

const { Point } = ed25519;
/** A generator of the eight points of small order. */
const GENERATOR = Point.fromHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");

const isSmallOrder = (bytes: Uint8Array): boolean => isSmallOrderAddress(addressFromBytes(bytes));

const withSign = (bytes: Uint8Array, sign: number): Uint8Array =>
  bytes.with(31, ((bytes[31] ?? 0) & 0x7f) | (sign << 7));

test("every encoding of the eight points is found, with either sign", () => {
  const points = Array.from({ length: 8 }, (_, i) =>
    i === 0 ? Point.ZERO : GENERATOR.multiplyUnsafe(BigInt(i)),
  );
  expect(new Set(points.map((point) => point.toHex())).size).toBe(8);
  for (const point of points) {
    expect(point.isSmallOrder()).toBe(true);
    for (const sign of [0, 1]) expect(isSmallOrder(withSign(point.toBytes(), sign))).toBe(true);
  }
});

test("so are those that name 0 and 1 a second time", () => {
  for (const low of [0xed, 0xee])
    for (const sign of [0, 1]) {
      const bytes = withSign(new Uint8Array(32).fill(0xff).with(0, low), sign);
      expect([low, isSmallOrder(bytes), canVerifyUnder(bytes)]).toEqual([low, true, false]);
    }
});

test("of any other 32 bytes a point is one under which signatures verify", () => {
  const byteAtZero = fc.nat({ max: 255 }).map((byte) => new Uint8Array(32).with(0, byte));
  fc.assert(
    fc.property(fc.oneof(bytesOfLength(32), byteAtZero), (bytes) => {
      let isPoint = true;
      try {
        Point.fromBytes(bytes, true);
      } catch {
        isPoint = false;
      }
      if (isPoint) expect(isSmallOrder(bytes)).toBe(!canVerifyUnder(bytes));
    }),
    runs(200),
  );
});
