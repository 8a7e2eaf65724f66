import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  consistencyPath,
  consistencyProof,
  inclusionPath,
  inclusionProof,
  verifyConsistency,
  verifyInclusion,
} from "../../../../core/log/tree/tree-proofs.ts";
import { emptyRoot, leafHash } from "../../../../core/log/tree/tree-hash.ts";
import { runs } from "../../../arbitraries/runs.ts";
import {
  referencePath,
  referenceProof,
  referenceRoot,
  referenceSource,
  someLeaves,
  withFlippedBit,
} from "../support/reference-tree.ts";

const MAX_SIZE = 140;
const ALL = someLeaves(MAX_SIZE);
const source = referenceSource(ALL);
const heads = Array.from({ length: MAX_SIZE + 1 }, (_, size) => ({
  size,
  root: referenceRoot(ALL.slice(0, size)),
}));
const headAt = (size: number) => heads[size] ?? { size, root: emptyRoot() };
const leafAt = (index: number) => leafHash(ALL[index] ?? new Uint8Array());

/** A leaf and a tree that holds it. */
const place = fc
  .integer({ min: 1, max: MAX_SIZE })
  .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }));
/** A tree and one that it began as. */
const growth = fc
  .integer({ min: 1, max: MAX_SIZE })
  .chain((size) => fc.record({ size: fc.constant(size), old: fc.nat(size) }));

test("inclusion proofs are the reference's, and verify", () => {
  fc.assert(
    fc.property(place, ({ size, index }) => {
      const proof = inclusionProof(index, size, source);
      expect(proof).toEqual(referencePath(index, ALL.slice(0, size)));
      const claim = { index, leafHash: leafAt(index), head: headAt(size) };
      expect(verifyInclusion(claim, proof)).toBe(true);
    }),
    runs(100),
  );
});

test("consistency proofs are the reference's, and verify", () => {
  fc.assert(
    fc.property(growth, ({ size, old }) => {
      const proof = consistencyProof(old, size, source);
      if (old > 0) expect(proof).toEqual(referenceProof(old, ALL.slice(0, size)));
      expect(verifyConsistency(headAt(old), headAt(size), proof)).toBe(true);
    }),
    runs(100),
  );
});

test("an inclusion proof verifies no other leaf, index, root or path", () => {
  fc.assert(
    fc.property(place, fc.nat(), fc.nat(), ({ size, index }, part, bit) => {
      const proof = inclusionProof(index, size, source);
      const head = headAt(size);
      const claim = { index, leafHash: leafAt(index), head };
      const at = part % (proof.length + 2);
      const flipped = proof.map((hash, i) => (i === at ? withFlippedBit(hash, bit) : hash));
      const wrong =
        at < proof.length
          ? verifyInclusion(claim, flipped)
          : at === proof.length
            ? verifyInclusion({ ...claim, leafHash: withFlippedBit(claim.leafHash, bit) }, proof)
            : verifyInclusion(
                { ...claim, head: { size, root: withFlippedBit(head.root, bit) } },
                proof,
              );
      expect(wrong).toBe(false);
      expect(verifyInclusion({ ...claim, index: (index + 1) % (size + 1) }, proof)).toBe(false);
      expect(verifyInclusion(claim, [...proof, leafAt(0)])).toBe(false);
      if (proof.length > 0) expect(verifyInclusion(claim, proof.slice(1))).toBe(false);
    }),
    runs(500),
  );
});

test("a consistency proof verifies no other roots or path", () => {
  fc.assert(
    fc.property(growth, fc.nat(), fc.nat(), ({ size, old }, part, bit) => {
      const proof = consistencyProof(old, size, source);
      const [from, to] = [headAt(old), headAt(size)];
      const at = part % (proof.length + 2);
      const flipped = proof.map((hash, i) => (i === at ? withFlippedBit(hash, bit) : hash));
      const isFalse =
        at < proof.length
          ? !verifyConsistency(from, to, flipped)
          : at === proof.length
            ? !verifyConsistency({ ...from, root: withFlippedBit(from.root, bit) }, to, proof)
            : // Any tree begins with the empty one.
              old === 0 ||
              !verifyConsistency(from, { ...to, root: withFlippedBit(to.root, bit) }, proof);
      expect(isFalse).toBe(true);
      expect(verifyConsistency(from, to, [...proof, leafAt(0)])).toBe(false);
      if (proof.length > 0) expect(verifyConsistency(from, to, proof.slice(1))).toBe(false);
      if (old !== size) expect(verifyConsistency(to, from, proof)).toBe(false);
    }),
    runs(500),
  );
});

test("verification never throws, whatever the numbers and lengths", () => {
  const hashes = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 70 });
  const number = fc.oneof(fc.double(), fc.maxSafeInteger(), fc.nat(9));
  fc.assert(
    fc.property(hashes, number, number, fc.uint8Array({ maxLength: 40 }), (proof, a, b, root) => {
      const claim = { index: a, leafHash: root, head: { size: b, root } };
      expect(typeof verifyInclusion(claim, proof)).toBe("boolean");
      expect(typeof verifyConsistency({ size: a, root }, { size: b, root }, proof)).toBe("boolean");
    }),
    runs(300),
  );
});

test("what a tree does not hold has no path", () => {
  expect(() => inclusionPath(3, 3)).toThrow(RangeError);
  expect(() => inclusionPath(-1, 3)).toThrow(RangeError);
  expect(() => inclusionPath(0.5, 3)).toThrow(RangeError);
  expect(() => consistencyPath(4, 3)).toThrow(RangeError);
  expect(inclusionPath(0, 1)).toEqual([]);
  expect(consistencyPath(0, 5)).toEqual([]);
});

test("an empty old tree has the empty root, and needs no proof", () => {
  expect(verifyConsistency({ size: 0, root: emptyRoot() }, headAt(5), [])).toBe(true);
  expect(verifyConsistency({ size: 0, root: headAt(5).root }, headAt(5), [])).toBe(false);
  expect(verifyConsistency(headAt(0), headAt(0), [])).toBe(true);
});
