import type { HashSource } from "../../../../core/log/tree/subtree.ts";

const sha256 = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const part of parts) hasher.update(part);
  return Uint8Array.from(hasher.digest());
};

/** The largest power of two below the number of leaves. */
const half = (count: number): number => (count <= 2 ? 1 : 2 * half(Math.ceil(count / 2)));

/** MTH(D[n]) as RFC 6962, section 2.1, says it: slow and plain. */
export const referenceRoot = (leaves: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return sha256(Uint8Array.of(0), only);
  const k = half(leaves.length);
  return sha256(
    Uint8Array.of(1),
    referenceRoot(leaves.slice(0, k)),
    referenceRoot(leaves.slice(k)),
  );
};

/** The hash of a range of leaves, by the first of them and the one behind the last. */
export type KnownRanges = ReadonlyMap<string, Uint8Array>;

/** The key of a range in `KnownRanges`. */
export const rangeKey = (from: number, to: number): string => `${from} ${to}`;

/** MTH(D[from:to]) in the same way for trees of any size, of which the hashes of some ranges are given. */
export const referenceRootOver = (from: number, to: number, known: KnownRanges): Uint8Array => {
  const given = known.get(rangeKey(from, to));
  if (given !== undefined) return given;
  if (to - from < 2) throw new Error(`nothing is known of leaf ${from}`);
  const k = half(to - from);
  return sha256(
    Uint8Array.of(1),
    referenceRootOver(from, from + k, known),
    referenceRootOver(from + k, to, known),
  );
};

/** PATH(m, D[n]) as RFC 6962, section 2.1.1, says it. */
export const referencePath = (
  m: number,
  leaves: ReadonlyArray<Uint8Array>,
): ReadonlyArray<Uint8Array> => {
  if (leaves.length <= 1) return [];
  const k = half(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m < k
    ? [...referencePath(m, left), referenceRoot(right)]
    : [...referencePath(m - k, right), referenceRoot(left)];
};

/** SUBPROOF(m, D[n], isOld) as RFC 6962, section 2.1.2, says it; PROOF(m, D[n]) is SUBPROOF(m, D[n], true). */
export const referenceProof = (
  m: number,
  leaves: ReadonlyArray<Uint8Array>,
  isOld = true,
): ReadonlyArray<Uint8Array> => {
  if (m === leaves.length) return isOld ? [] : [referenceRoot(leaves)];
  const k = half(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m <= k
    ? [...referenceProof(m, left, isOld), referenceRoot(right)]
    : [...referenceProof(m - k, right, false), referenceRoot(left)];
};

/** The hashes of the leaves' perfect subtrees. */
export const referenceSource =
  (leaves: ReadonlyArray<Uint8Array>): HashSource =>
  ({ level, index }) => {
    const width = 2 ** level;
    const held = leaves.slice(index * width, (index + 1) * width);
    if (held.length !== width) throw new Error(`no subtree ${level}/${index}`);
    return referenceRoot(held);
  };

/** Different leaves, as many as asked for. */
export const someLeaves = (count: number, seed = 0): ReadonlyArray<Uint8Array> =>
  Array.from({ length: count }, (_, i) => {
    const leaf = new Uint8Array(66).fill(seed);
    new DataView(leaf.buffer).setUint32(0, i);
    return leaf;
  });

/** The bytes with one bit turned. */
export const withFlippedBit = (bytes: Uint8Array, bit: number): Uint8Array => {
  const at = Math.floor(bit / 8) % bytes.length;
  return bytes.map((byte, i) => (i === at ? byte ^ (1 << (bit % 8)) : byte));
};
