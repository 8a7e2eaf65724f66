import { expect, test } from "bun:test";
import fc from "fast-check";
import { rootAt, subtreesOf } from "../../../../core/log/tree/subtree.ts";
import { TreeEdge } from "../../../../core/log/tree/tree-edge.ts";
import { emptyRoot, foldHashes, leafHash, nodeHash } from "../../../../core/log/tree/tree-hash.ts";
import { runs } from "../../../arbitraries/runs.ts";
import {
  referencePath,
  referenceProof,
  referenceRoot,
  referenceSource,
  someLeaves,
  withFlippedBit,
} from "../support/reference-tree.ts";
import {
  consistencyPath,
  consistencyProof,
  inclusionPath,
  inclusionProof,
  verifyConsistency,
  verifyInclusion,
} from "../../../../core/log/tree/tree-proofs.ts";

/** The tree that implementations of RFC 6962 try themselves on: certificate-transparency, `merkle_tree_test.cc`. */
const KNOWN_LEAVES = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
].map((hex) => Uint8Array.from(Buffer.from(hex, "hex")));

const KNOWN_ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const edgeOf = (leaves: ReadonlyArray<Uint8Array>): TreeEdge => {
  const edge = new TreeEdge();
  for (const leaf of leaves) edge.append(leafHash(leaf));
  return edge;
};

test("the known tree has the known root at each size", () => {
  const roots = KNOWN_ROOTS.map((_, size) => edgeOf(KNOWN_LEAVES.slice(0, size)).root());
  expect(roots.map((root) => Buffer.from(root).toString("hex"))).toEqual(KNOWN_ROOTS);
});

test("an edge that grew, one that was stored and a source all give the reference's root", () => {
  fc.assert(
    fc.property(fc.nat(300), fc.nat(300), fc.nat(255), (size, more, seed) => {
      const leaves = someLeaves(size + more, seed);
      const source = referenceSource(leaves);
      const edge = edgeOf(leaves.slice(0, size));
      expect(edge.root()).toEqual(referenceRoot(leaves.slice(0, size)));
      expect(rootAt(size, source)).toEqual(edge.root());
      const stored = new TreeEdge(edge.size, edge.roots);
      for (const leaf of leaves.slice(size)) stored.append(leafHash(leaf));
      expect(stored.root()).toEqual(referenceRoot(leaves));
      expect(edge.size).toBe(size);
      expect(stored.roots).toEqual(subtreesOf({ from: 0, to: size + more }).map(source));
    }),
    runs(20),
  );
});

test("an edge with more or fewer roots than its size has ones in binary is refused", () => {
  const hash = new Uint8Array(32);
  expect(() => new TreeEdge(3, [hash])).toThrow(RangeError);
  expect(() => new TreeEdge(4, [hash, hash])).toThrow(RangeError);
  expect(() => new TreeEdge(-1)).toThrow(RangeError);
  expect(() => new TreeEdge(1, [new Uint8Array(31)])).toThrow(RangeError);
});

test("a power of two of hashes folds to the root over them, and no other number does", () => {
  for (const count of [1, 2, 8, 256]) {
    const hashes = someLeaves(count).map(leafHash);
    const packed = Uint8Array.from(hashes.flatMap((hash) => [...hash]));
    expect(foldHashes(packed)).toEqual(referenceRoot(someLeaves(count)));
  }
  for (const length of [0, 31, 33, 96]) {
    expect(() => foldHashes(new Uint8Array(length))).toThrow(RangeError);
  }
});

test("a node over anything but two hashes is refused, and the empty root is nobody else's", () => {
  expect(() => nodeHash(new Uint8Array(31), new Uint8Array(32))).toThrow(RangeError);
  expect(() => nodeHash(new Uint8Array(32), new Uint8Array(33))).toThrow(RangeError);
  emptyRoot().fill(0);
  expect(emptyRoot()).toEqual(referenceRoot([]));
});

test("a range that no tree hashes as one is refused", () => {
  expect(subtreesOf({ from: 8, to: 13 })).toEqual([
    { level: 2, index: 2 },
    { level: 0, index: 12 },
  ]);
  expect(() => subtreesOf({ from: 1, to: 3 })).toThrow(RangeError);
});

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
