import { EVENT_LEAF_LENGTH } from "../../../../log/leaf/event-leaf.ts";
import type { NumberedLeaf } from "../../../../log/leaf/escrow-leaves.ts";

/** The most missing numbers that are named. All are counted. */
const MAX_NAMED = 10;

/** The leaves of a range of event numbers in one block of 66 bytes each. Rows may come in any order and again. */
export class LeafWindow {
  /** The first number that came with two leaves, null without one. */
  contradicted: bigint | null = null;
  readonly #from: bigint;
  readonly #to: bigint;
  readonly #bytes: Uint8Array;
  #held = 0n;

  /** A window without leaves for the numbers above `from`, up to `to`. */
  constructor(from: bigint, to: bigint) {
    this.#from = from;
    this.#to = to;
    this.#bytes = new Uint8Array(Number(to - from) * EVENT_LEAF_LENGTH);
  }

  /** Whether a number is in the window. */
  has(seq: bigint): boolean {
    return seq > this.#from && seq <= this.#to;
  }

  /** Keeps a leaf whose number is in the window. The first one of a number stays. */
  add({ seq, leaf }: NumberedLeaf): void {
    if (!this.has(seq)) return;
    const held = this.#at(seq);
    // A leaf's first byte is its kind, which is never zero.
    if (held[0] === 0) {
      held.set(leaf);
      this.#held += 1n;
    } else if (!held.every((byte, at) => byte === leaf[at])) this.contradicted ??= seq;
  }

  /** Whether a number in the window has no leaf. */
  lacks(seq: bigint): boolean {
    return this.has(seq) && this.#at(seq)[0] === 0;
  }

  /** How many numbers have no leaf. */
  get missing(): bigint {
    return this.#to - this.#from - this.#held;
  }

  /** The first numbers without a leaf, at most 10. */
  get firstMissing(): ReadonlyArray<bigint> {
    const first: Array<bigint> = [];
    for (let seq = this.#from + 1n; seq <= this.#to && first.length < MAX_NAMED; seq++)
      if (this.#at(seq)[0] === 0) first.push(seq);
    return first;
  }

  /** The leaves in ascending order of their numbers. None may be missing. */
  *leaves(): Generator<NumberedLeaf> {
    for (let seq = this.#from + 1n; seq <= this.#to; seq++) yield { seq, leaf: this.#at(seq) };
  }

  #at(seq: bigint): Uint8Array {
    const at = Number(seq - this.#from - 1n) * EVENT_LEAF_LENGTH;
    return this.#bytes.subarray(at, at + EVENT_LEAF_LENGTH);
  }
}
