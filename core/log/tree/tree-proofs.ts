import { hashOfRange, type HashSource, type LeafRange, splitOf } from "./subtree.ts";
import type { TreeHead } from "./tree-edge.ts";
import { areHashes, emptyRoot, isSameHash, nodeHash } from "./tree-hash.ts";

/**
 * The ranges whose hashes prove a leaf of a tree, the leaf's sibling first: PATH(m, D[n]) of RFC 6962, section 2.1.1.
 * @throws RangeError unless the index is below the size.
 */
export const inclusionPath = (index: number, size: number): ReadonlyArray<LeafRange> => {
  if (!Number.isSafeInteger(size) || !Number.isSafeInteger(index) || index < 0 || index >= size)
    throw new RangeError(`no leaf ${index} in a tree of ${size}`);
  const path: Array<LeafRange> = [];
  let [from, to] = [0, size];
  while (to - from > 1) {
    const split = from + splitOf(to - from);
    if (index < split) {
      path.push({ from: split, to });
      to = split;
    } else {
      path.push({ from, to: split });
      from = split;
    }
  }
  return path.toReversed();
};

/**
 * The hashes that prove a leaf of the tree's first `size` leaves. @throws RangeError unless the index is below the
 * size.
 */
export const inclusionProof = (
  index: number,
  size: number,
  source: HashSource,
): ReadonlyArray<Uint8Array> =>
  inclusionPath(index, size).map((range) => hashOfRange(range, source));

/** What an inclusion proof claims. */
type InclusionClaim = {
  readonly index: number;
  /** The hash of the leaf at that index. */
  readonly leafHash: Uint8Array;
  readonly head: TreeHead;
};

/** Whether a proof leads from a leaf to a head (RFC 9162, section 2.1.3.2). Never throws. */
export const verifyInclusion = (
  { index, leafHash, head }: InclusionClaim,
  proof: ReadonlyArray<Uint8Array>,
): boolean => {
  if (!Number.isSafeInteger(index) || index < 0 || index >= head.size) return false;
  if (!areHashes([leafHash, ...proof])) return false;
  let node = index;
  let last = head.size - 1;
  let hash = leafHash;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else hash = nodeHash(hash, sibling);
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && isSameHash(hash, head.root);
};

/**
 * The ranges whose hashes prove that a tree of `size` leaves begins with one of `oldSize`: PROOF(m, D[n]) of RFC 6962,
 * section 2.1.2. None where both are equal or the old one is empty. @throws RangeError for an old size above the size.
 */
export const consistencyPath = (oldSize: number, size: number): ReadonlyArray<LeafRange> => {
  if (
    !Number.isSafeInteger(oldSize) ||
    !Number.isSafeInteger(size) ||
    oldSize < 0 ||
    oldSize > size
  )
    throw new RangeError(`a tree of ${size} leaves does not begin with one of ${oldSize}`);
  if (oldSize === 0) return [];
  const path: Array<LeafRange> = [];
  let [from, to] = [0, size];
  while (to !== oldSize) {
    const split = from + splitOf(to - from);
    if (oldSize <= split) {
      path.push({ from: split, to });
      to = split;
    } else {
      path.push({ from, to: split });
      from = split;
    }
  }
  // Where the old tree is a perfect subtree of the new one, the verifier holds its hash: its root.
  if (from !== 0) path.push({ from, to });
  return path.toReversed();
};

/** The hashes that prove that a tree begins with an older one. @throws RangeError for an old size above the size. */
export const consistencyProof = (
  oldSize: number,
  size: number,
  source: HashSource,
): ReadonlyArray<Uint8Array> =>
  consistencyPath(oldSize, size).map((range) => hashOfRange(range, source));

/**
 * Whether a proof shows that the tree under `head` begins with the one under `old` (RFC 9162, section 2.1.4.2). Equal
 * sizes and an empty old tree need an empty proof, equal roots and the empty root. Never throws.
 */
export const verifyConsistency = (
  old: TreeHead,
  head: TreeHead,
  proof: ReadonlyArray<Uint8Array>,
): boolean => {
  if (!Number.isSafeInteger(old.size) || !Number.isSafeInteger(head.size)) return false;
  if (old.size < 0 || old.size > head.size) return false;
  if (!areHashes([old.root, head.root, ...proof])) return false;
  if (old.size === 0 && !isSameHash(old.root, emptyRoot())) return false;
  if (old.size === head.size) return proof.length === 0 && isSameHash(old.root, head.root);
  if (old.size === 0) return proof.length === 0;
  let node = old.size - 1;
  let last = head.size - 1;
  while (node % 2 === 1) {
    node = (node - 1) / 2;
    last = Math.floor(last / 2);
  }
  // An old tree of a power of two is a subtree of the new one; its root begins the path.
  const [first, ...rest] = node === 0 ? [old.root, ...proof] : proof;
  if (first === undefined || proof.length === 0) return false;
  let oldHash = first;
  let hash = first;
  for (const sibling of rest) {
    if (last === 0) return false;
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(sibling, oldHash);
      hash = nodeHash(sibling, hash);
      while (node % 2 === 0 && node !== 0) {
        node /= 2;
        last = Math.floor(last / 2);
      }
    } else hash = nodeHash(hash, sibling);
    node = Math.floor(node / 2);
    last = Math.floor(last / 2);
  }
  return last === 0 && isSameHash(oldHash, old.root) && isSameHash(hash, head.root);
};
