import { emptyRoot, nodeHash } from "./tree-hash.ts";

/** A perfect subtree: leaves index * 2^level to (index + 1) * 2^level, the last one not included. */
export type Subtree = { readonly level: number; readonly index: number };

/** Leaves `from` to `to`, the last one not included. */
export type LeafRange = { readonly from: number; readonly to: number };

/**
 * The hash of a perfect subtree of the tree, 32 bytes. Whoever gives a source has the hashes that it is asked for:
 * `subtreesOf` tells them beforehand.
 */
export type HashSource = (subtree: Subtree) => Uint8Array;

/** The largest power of two below `count`, which is at least 2. RFC 6962 splits a tree of `count` leaves there. */
export const splitOf = (count: number): number => {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
};

/**
 * The perfect subtrees that a range consists of, largest first. The range is one that RFC 6962 hashes: it begins at a
 * multiple of the power of two that its length does not exceed.
 */
export const subtreesOf = ({ from, to }: LeafRange): ReadonlyArray<Subtree> => {
  const subtrees: Array<Subtree> = [];
  for (let at = from; at < to;) {
    let level = 0;
    let width = 1;
    while (width * 2 <= to - at) {
      width *= 2;
      level += 1;
    }
    if (at % width !== 0) throw new RangeError(`no tree hashes the leaves ${from} to ${to} as one`);
    subtrees.push({ level, index: at / width });
    at += width;
  }
  return subtrees;
};

/** The hash over a range of leaves, MTH(D[from:to]) of RFC 6962, section 2.1; 32 bytes. */
export const hashOfRange = (range: LeafRange, source: HashSource): Uint8Array => {
  const hashes = subtreesOf(range).map(source);
  const last = hashes.pop();
  if (last === undefined) return emptyRoot();
  return hashes.reduceRight((right, left) => nodeHash(left, right), last);
};

/** The root of the tree's first `size` leaves, 32 bytes. */
export const rootAt = (size: number, source: HashSource): Uint8Array =>
  hashOfRange({ from: 0, to: size }, source);
