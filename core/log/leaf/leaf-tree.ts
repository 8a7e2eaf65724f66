import { type Hash32, hash32FromBytes } from "../../domain/hash32.ts";
import type { LoggedEvents } from "../../domain/index/sync-report.ts";
import { edgeOf, eventsIn } from "../tree/frontier.ts";
import type { TreeEdge } from "../tree/tree-edge.ts";
import { leafHash } from "../tree/tree-hash.ts";

/** The most missing numbers that are named. All are counted. */
const MAX_NAMED = 10;

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.every((byte, at) => byte === b[at]);

/**
 * Grows the log by leaves that come in ascending order of their numbers, and notes the numbers that are missing or have
 * two leaves.
 */
export class LeafTree {
  /** The first missing numbers, at most 10. */
  readonly missing: Array<bigint> = [];
  /** The first number that came with two leaves, null without one. */
  contradicted: bigint | null = null;
  /** The number of the last leaf. */
  last: bigint;
  #missing = 0n;
  readonly #edge: TreeEdge;
  #leaf: Uint8Array | null = null;

  /** A log that goes on after these events. */
  constructor(after: LoggedEvents) {
    this.last = after.count;
    this.#edge = edgeOf(after);
  }

  /** The events up to the last leaf. Means nothing once a leaf is missing or contradicted. */
  get events(): LoggedEvents {
    return eventsIn(this.#edge);
  }

  /** The root after the last leaf. Means nothing once a leaf is missing or contradicted. */
  get root(): Hash32 {
    return hash32FromBytes(this.#edge.root());
  }

  /** Adds a leaf. Its number is that of the last one, or above it. */
  readonly add = (seq: bigint, leaf: Uint8Array): void => {
    if (seq === this.last) {
      const isOther = this.#leaf !== null && !isSame(this.#leaf, leaf);
      if (isOther) this.contradicted ??= seq;
      return;
    }
    this.#miss(seq - 1n);
    if (this.#missing === 0n) this.#edge.append(leafHash(leaf));
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
