import { expect, test } from "bun:test";
import fc from "fast-check";
import { firstHead, headAfter, headOf } from "../../../../core/log/leaf/leaf-chain.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

test("each head is the hash of the one before and the leaf, from 32 zero bytes on", () => {
  fc.assert(
    fc.property(fc.array(bytesOfLength(66), { maxLength: 5 }), (leaves) => {
      let expected: Uint8Array = new Uint8Array(32);
      for (const leaf of leaves)
        expected = new Bun.CryptoHasher("sha256").update(expected).update(leaf).digest();
      expect(headOf(leaves)).toEqual(Uint8Array.from(expected));
    }),
    runs(50),
  );
});

test("a chain goes on from any head", () => {
  fc.assert(
    fc.property(
      fc.array(bytesOfLength(66), { minLength: 1, maxLength: 6 }),
      fc.nat(6),
      (leaves, cut) => {
        const middle = headOf(leaves.slice(0, cut));
        expect(headOf(leaves.slice(cut), middle)).toEqual(headOf(leaves));
      },
    ),
    runs(50),
  );
});

test("a link of other lengths is refused, and a first head is nobody else's", () => {
  expect(() => headAfter(firstHead(), new Uint8Array(65))).toThrow(RangeError);
  expect(() => headAfter(new Uint8Array(31), new Uint8Array(66))).toThrow(RangeError);
  firstHead().fill(1);
  expect(firstHead()).toEqual(new Uint8Array(32));
});
