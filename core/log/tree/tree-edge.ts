import { emptyRoot, HASH_LENGTH, nodeHash } from "./tree-hash.ts";

/** How many leaves a tree has, and the root over them (32 bytes). Sizes are whole numbers up to 2^53 - 1. */
export type TreeHead = { readonly size: number; readonly root: Uint8Array };

/** How many perfect subtrees a tree of a size consists of: the ones in its binary form. */
const subtreesIn = (size: number): number => {
  let count = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) count += rest % 2;
  return count;
};

/** The right edge of a growing tree: the roots of its perfect subtrees, which is all that appending needs. */
export class TreeEdge {
  #size: number;
  #roots: Array<Uint8Array>;

  /**
   * The edge of a tree of `size` leaves, by the roots of its perfect subtrees, largest first; empty by default.
   * @throws RangeError unless there are as many roots as the size has ones in binary.
   */
  constructor(size = 0, roots: ReadonlyArray<Uint8Array> = []) {
    if (!Number.isSafeInteger(size) || size < 0 || roots.length !== subtreesIn(size))
      throw new RangeError(`no tree of ${size} leaves has ${roots.length} perfect subtrees`);
    if (roots.some(({ length }) => length !== HASH_LENGTH))
      throw new RangeError("a root of another length than 32 bytes");
    this.#size = size;
    this.#roots = [...roots];
  }

  /** Another edge of the same tree. Appending to one does not change the other. */
  copy(): TreeEdge {
    const made = new TreeEdge();
    made.#size = this.#size;
    made.#roots = [...this.#roots];
    return made;
  }

  /** How many leaves were appended. */
  get size(): number {
    return this.#size;
  }

  /** The roots of the perfect subtrees, largest first: with the size, what the constructor takes. */
  get roots(): ReadonlyArray<Uint8Array> {
    return [...this.#roots];
  }

  /** Appends a leaf by its hash. */
  append(leafHash: Uint8Array): void {
    let root = leafHash;
    for (let size = this.#size; size % 2 === 1; size = (size - 1) / 2)
      root = nodeHash(this.#roots.pop() ?? root, root);
    this.#roots.push(root);
    this.#size += 1;
  }

  /** The root over all leaves, 32 bytes (RFC 6962, section 2.1). */
  root(): Uint8Array {
    const last = this.#roots.at(-1);
    if (last === undefined) return emptyRoot();
    return this.#roots.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
  }
}
