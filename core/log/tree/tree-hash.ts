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
export const leafHash = (leaf: Uint8Array): Uint8Array => {
  if (prefixedLeaf.length !== leaf.length + 1) {
    prefixedLeaf = new Uint8Array(leaf.length + 1);
    prefixedLeaf[0] = LEAF_PREFIX;
  }
  prefixedLeaf.set(leaf, 1);
  return sha256(prefixedLeaf);
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

/** Stands where a list has no member; `nodeHash` refuses it. */
const NO_HASH = new Uint8Array();

/**
 * The root over a power of two of hashes, 32 bytes each. A list of hashes is folded faster than their bytes in one array,
 * because a view of 32 bytes costs a third of a hash. @throws RangeError for another number of hashes.
 */
export const rootOfHashes = (hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (hashes.length === 0 || !Number.isInteger(Math.log2(hashes.length)))
    throw new RangeError(`${hashes.length} is no power of two of hashes`);
  let level = hashes;
  while (level.length > 1) {
    const above: Array<Uint8Array> = [];
    for (let at = 0; at < level.length; at += 2)
      above.push(nodeHash(level[at] ?? NO_HASH, level[at + 1] ?? NO_HASH));
    level = above;
  }
  return level[0] ?? NO_HASH;
};

/** The hashes that stand one behind another in bytes, as copies. @throws RangeError for a part of a hash. */
export const splitHashes = (bytes: Uint8Array): Array<Uint8Array> => {
  if (bytes.length % HASH_LENGTH !== 0)
    throw new RangeError(`${bytes.length} bytes end with a part of a hash`);
  const hashes: Array<Uint8Array> = [];
  for (let at = 0; at < bytes.length; at += HASH_LENGTH)
    hashes.push(bytes.slice(at, at + HASH_LENGTH));
  return hashes;
};

/** The bytes of hashes, one behind another. */
export const joinHashes = (hashes: ReadonlyArray<Uint8Array>): Uint8Array => {
  const bytes = new Uint8Array(hashes.length * HASH_LENGTH);
  for (let i = 0; i < hashes.length; i++) bytes.set(hashes[i] ?? NO_HASH, i * HASH_LENGTH);
  return bytes;
};

/** The root over a power of two of hashes that stand one behind another in bytes. @throws RangeError for other bytes. */
export const foldHashes = (bytes: Uint8Array): Uint8Array => rootOfHashes(splitHashes(bytes));

/** Whether two hashes have the same bytes. Not in constant time: nothing in a log is secret. */
export const isSameHash = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Whether each is a hash: 32 bytes. */
export const areHashes = (hashes: ReadonlyArray<Uint8Array>): boolean =>
  hashes.every(({ length }) => length === HASH_LENGTH);
