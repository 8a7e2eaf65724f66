import { expect, test } from "bun:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import fc from "fast-check";
import { canVerifyUnder, isCanonicalKey } from "../../../../core/protocol/crypto/strict-ed25519.ts";
import { bytesOfLength } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";

test("every key of a seed is canonical", () => {
  fc.assert(
    fc.property(bytesOfLength(32), (seed) => {
      expect(isCanonicalKey(ed25519.getPublicKey(seed))).toBe(true);
    }),
    runs(30),
  );
});

test.each([
  ["the neutral point", `01${"00".repeat(31)}`],
  ["the point of order two", `ec${"ff".repeat(30)}7f`],
  ["a point of order eight", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ["the neutral point with a sign", `01${"00".repeat(30)}80`],
  ["y = p, which is 0", `ed${"ff".repeat(30)}7f`],
  ["y = p + 1", `ee${"ff".repeat(30)}7f`],
  ["all bits", "ff".repeat(32)],
  ["no point", `02${"00".repeat(31)}`],
])("%s is none", (_, hex) => {
  expect(isCanonicalKey(Uint8Array.fromHex(hex))).toBe(false);
});

test("y = p + 3 is a point of full order that a ledger may take, and is no canonical key", () => {
  const plain = Uint8Array.fromHex(`03${"00".repeat(31)}`);
  const beyond = Uint8Array.fromHex(`f0${"ff".repeat(30)}7f`);
  expect([canVerifyUnder(plain), isCanonicalKey(plain)]).toEqual([true, true]);
  expect([canVerifyUnder(beyond), isCanonicalKey(beyond)]).toEqual([true, false]);
});

test("other lengths are none", () => {
  for (const length of [0, 31, 33]) expect(isCanonicalKey(new Uint8Array(length))).toBe(false);
});
