import { type HashSource, hashOfRange, type LeafRange, splitOf } from "./subtree.ts";
import type { TreeHead } from "./tree-edge.ts";
import { areHashes, isSameHash, nodeHash } from "./tree-hash.ts";

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

/** The hashes that prove a leaf of the tree's first `size` leaves. @throws RangeError unless the index is below the size. */
export const inclusionProof = (
  index: number,
  size: number,
  source: HashSource,
): ReadonlyArray<Uint8Array> =>
  inclusionPath(index, size).map((range) => hashOfRange(range, source));

/** What an inclusion proof claims. */
export type InclusionClaim = {
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
