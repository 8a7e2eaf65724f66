import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import { sha256 } from "../../domain/sha256.ts";
import { EVENT_LEAF_LENGTH } from "./event-leaf.ts";

const HEAD_LENGTH = 32;

/** The head before the first event: 32 zero bytes. A new copy each time. */
export const firstHead = (): Uint8Array => new Uint8Array(HEAD_LENGTH);

/** What a link hashes. One buffer for all links: no link outlives its call, and a million of them take 0.3 s. */
const link = new Uint8Array(HEAD_LENGTH + EVENT_LEAF_LENGTH);

/**
 * The head after an event: SHA-256(head || leaf), as `number_event` of programs/custody/ledger-event.h makes it.
 * @throws RangeError unless the head has 32 and the leaf 66 bytes.
 */
export const headAfter = (head: Uint8Array, leaf: Uint8Array): Uint8Array => {
  if (head.length !== HEAD_LENGTH || leaf.length !== EVENT_LEAF_LENGTH)
    throw new RangeError(`no link of ${head.length} and ${leaf.length} bytes`);
  link.set(head);
  link.set(leaf, HEAD_LENGTH);
  return sha256(link);
};

/** The head after events 1 to n, from their leaves in order. Leaf 0 is not among them. */
export const headOf = (
  leaves: Iterable<Uint8Array>,
  head: Uint8Array = firstHead(),
): Uint8Array => {
  let last = head;
  for (const leaf of leaves) last = headAfter(last, leaf);
  return last;
};

/** The most missing numbers that are named. All are counted. */
const MAX_NAMED = 10;

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, at) => byte === b[at]);

/** Chains leaves that come in ascending order of their numbers, and notes the numbers that are missing or have two leaves. */
export class LeafChain {
  /** The first missing numbers, at most 10. */
  readonly missing: Array<bigint> = [];
  /** The first number that came with two leaves, null without one. */
  contradicted: bigint | null = null;
  /** The number of the last leaf. */
  last: bigint;
  #missing = 0n;
  #head: Uint8Array;
  #leaf: Uint8Array | null = null;

  /** A chain that continues after the leaf numbered `from`, whose head was `head`. */
  constructor(from: bigint, head: Uint8Array) {
    this.last = from;
    this.#head = head;
  }

  /** The head after the last leaf. Means nothing once a leaf is missing or contradicted. */
  get head(): Hash32 {
    return hash32FromBytes(this.#head);
  }

  /** Adds a leaf. Its number is that of the last one, or above it. */
  readonly add = (seq: bigint, leaf: Uint8Array): void => {
    if (seq === this.last) {
      const isOther = this.#leaf !== null && !isSame(this.#leaf, leaf);
      if (isOther) this.contradicted ??= seq;
      return;
    }
    this.#miss(seq - 1n);
    if (this.#missing === 0n) this.#head = headAfter(this.#head, leaf);
    this.last = seq;
    this.#leaf = leaf;
  };

  /** How many numbers up to `count` are missing. Nothing may be added afterwards. */
  missingTo(count: bigint): bigint {
    this.#miss(count);
    return this.#missing;
  }

  #miss(to: bigint): void {
    for (let seq = this.last + 1n; seq <= to && this.missing.length < MAX_NAMED; seq++)
      this.missing.push(seq);
    if (to > this.last) {
      this.#missing += to - this.last;
      this.last = to;
    }
  }
}
