import { describe, expect, test } from "bun:test";
import { ED25519_TORSION_SUBGROUP, ed25519 } from "@noble/curves/ed25519.js";
import { isOffCurveAddress } from "@solana/kit";
import fc from "fast-check";
import { addressFromBytes } from "../../../../../core/domain/address.ts";
import {
  type FastParts,
  IMPLEMENTATIONS,
} from "../../../../../core/domain/encoding/fast/fast-parts.ts";
import { bytesOfLength } from "../../../../arbitraries/ledger-values.ts";
import { runs } from "../../../../arbitraries/runs.ts";

const P = 2n ** 255n - 19n;

/** 32 bytes, little-endian: y in the low 255 bits, the sign of x in the highest. */
const encoding = (y: bigint, sign: boolean): Uint8Array => {
  const value = y | (sign ? 1n << 255n : 0n);
  return Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
};

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

const nobleZip215 = (bytes: Uint8Array): boolean => {
  try {
    ed25519.Point.fromBytes(bytes, true);
    return true;
  } catch {
    return false;
  }
};

const kit = (bytes: Uint8Array): boolean => !isOffCurveAddress(addressFromBytes(bytes));

/** Every special y with either sign: from 0 on, and from p - 20 to 2^255 - 1, including all unreduced ones. */
const edges: ReadonlyArray<Uint8Array> = Array.from({ length: 39 }, (_, i) => P - 20n + BigInt(i))
  .concat(Array.from({ length: 25 }, (_, i) => BigInt(i)))
  .flatMap((y) => [encoding(y, false), encoding(y, true)]);

/** The implementation that runs and the library's. Both must give the same. */
const implementations: ReadonlyArray<readonly [string, FastParts]> =
  Object.entries(IMPLEMENTATIONS);

describe.each(implementations)(
  "an Ed25519 point by the ledger's rule, %s",
  (_, { isEdwardsPoint }) => {
    test("noble's zip215 decoding agrees on random bytes", () => {
      fc.assert(
        fc.property(bytesOfLength(32), (bytes) => {
          expect(isEdwardsPoint(bytes)).toBe(nobleZip215(bytes));
        }),
        runs(400),
      );
    });

    test("noble's zip215 decoding agrees on every edge encoding", () => {
      expect(edges).toHaveLength(128);
      for (const bytes of edges)
        expect([...bytes, isEdwardsPoint(bytes)]).toEqual([...bytes, nobleZip215(bytes)]);
    });

    test("the points of small order are points, with either sign, reduced or not", () => {
      expect(ED25519_TORSION_SUBGROUP).toHaveLength(8);
      for (const hex of ED25519_TORSION_SUBGROUP) {
        const bytes = Uint8Array.from(Buffer.from(hex, "hex"));
        expect(isEdwardsPoint(bytes)).toBe(true);
        expect(isEdwardsPoint(bytes.with(31, (bytes[31] ?? 0) ^ 128))).toBe(true);
      }
      for (const y of [0n, 1n, P - 1n, P, P + 1n]) {
        expect(isEdwardsPoint(encoding(y, false))).toBe(true);
        expect(isEdwardsPoint(encoding(y, true))).toBe(true);
      }
    });

    // x is 0 for y = 1, y = p + 1 (1, not reduced) and y = p - 1. RFC 8032 has no "minus zero", the ledger does.
    test("kit agrees on every edge encoding but three: x = 0 with the sign bit set", () => {
      const disagreeing = edges.filter((bytes) => isEdwardsPoint(bytes) !== kit(bytes));
      const minusZero = [1n, P - 1n, P + 1n].map((y) => hex(encoding(y, true)));
      expect([...new Set(disagreeing.map(hex))].sort()).toEqual(minusZero.sort());
    });

    test("bytes in the middle of a larger buffer are read at their offset", () => {
      fc.assert(
        fc.property(bytesOfLength(32), fc.nat({ max: 9 }), (bytes, before) => {
          const buffer = new Uint8Array(before + 40).fill(0xa5);
          buffer.set(bytes, before);
          expect(isEdwardsPoint(buffer.subarray(before, before + 32))).toBe(isEdwardsPoint(bytes));
        }),
        runs(50),
      );
    });
  },
);
