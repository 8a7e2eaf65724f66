import { sha256 } from "../../domain/sha256.ts";

/** Bytes of a hash in the tree. */
export const HASH_LENGTH = 32;

/** The root of the tree without leaves: SHA-256 of nothing (RFC 6962, section 2.1). A new copy each time. */
export const emptyRoot = (): Uint8Array => sha256(new Uint8Array());

const LEAF_PREFIX = 0x00;
const NODE_PREFIX = 0x01;

/** What a leaf's hash is made of, kept for leaves of the same length: nearly all have 66 bytes. */
let prefixedLeaf = new Uint8Array();

/** The hash of a leaf: SHA-256(0x00 || leaf) (RFC 6962, section 2.1). The caller owns the 32 bytes. */
export const leafHash = (leaf: Uint8Array): Uint8Array =>
  writeLeafHash(leaf, new Uint8Array(HASH_LENGTH));

/** Writes the hash of a leaf into 32 bytes, and returns these. */
export const writeLeafHash = (leaf: Uint8Array, into: Uint8Array): Uint8Array => {
  if (prefixedLeaf.length !== leaf.length + 1) {
    prefixedLeaf = new Uint8Array(leaf.length + 1);
    prefixedLeaf[0] = LEAF_PREFIX;
  }
  prefixedLeaf.set(leaf, 1);
  return sha256(prefixedLeaf, into);
};

/** What a node's hash is made of. One buffer for all: no node outlives its call. */
const prefixedPair = new Uint8Array(1 + 2 * HASH_LENGTH);
prefixedPair[0] = NODE_PREFIX;

/**
 * The hash of a node: SHA-256(0x01 || left || right) (RFC 6962, section 2.1). The caller owns the 32 bytes.
 * @throws RangeError unless both have 32 bytes.
 */
export const nodeHash = (left: Uint8Array, right: Uint8Array): Uint8Array => {
  if (left.length !== HASH_LENGTH || right.length !== HASH_LENGTH)
    throw new RangeError(`no node over ${left.length} and ${right.length} bytes`);
  prefixedPair.set(left, 1);
  prefixedPair.set(right, 1 + HASH_LENGTH);
  return sha256(prefixedPair);
};

/** The most hashes that are folded at once: those of a full tile (core/log/tiles/tile-path.ts). */
const MAX_FOLDED = 256;

/**
 * Where hashes are folded, and views of it: each hash, and each two beside each other. Making a view costs a third of a
 * hash.
 */
const folded = new Uint8Array(MAX_FOLDED * HASH_LENGTH);
const places = Array.from({ length: MAX_FOLDED / 2 }, (_, i) => ({
  hash: folded.subarray(i * HASH_LENGTH, (i + 1) * HASH_LENGTH),
  pair: folded.subarray(2 * i * HASH_LENGTH, 2 * (i + 1) * HASH_LENGTH),
}));

/**
 * The root over a power of two of hashes that stand one behind another, at most 256. The caller owns the 32 bytes.
 * @throws RangeError for other bytes.
 */
export const foldHashes = (hashes: Uint8Array): Uint8Array => {
  if (!isFoldable(hashes.length))
    throw new RangeError(`no power of two of hashes, or too many, in ${hashes.length} bytes`);
  folded.set(hashes);
  for (let count = hashes.length / HASH_LENGTH / 2; count >= 1; count /= 2)
    for (let at = 0; at < count; at++) {
      const place = places[at];
      // There is one for each pair of 256 hashes.
      if (place === undefined) break;
      prefixedPair.set(place.pair, 1);
      sha256(prefixedPair, place.hash);
    }
  return folded.slice(0, HASH_LENGTH);
};

const isFoldable = (length: number): boolean => {
  const count = length / HASH_LENGTH;
  return Number.isInteger(Math.log2(count)) && count >= 1 && count <= MAX_FOLDED;
};

/** Whether two hashes have the same bytes. Not in constant time: nothing in a log is secret. */
export const isSameHash = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Whether each is a hash: 32 bytes. */
export const areHashes = (hashes: ReadonlyArray<Uint8Array>): boolean =>
  hashes.every(({ length }) => length === HASH_LENGTH);
