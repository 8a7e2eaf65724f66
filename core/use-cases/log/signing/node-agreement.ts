import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../domain/hash32.ts";
import { firstHead, headAfter } from "../../../log/leaf/event-chain.ts";

/** The count and head of the custody program's chain, as a node shows them. */
export type ChainHead = { readonly count: bigint; readonly head: Hash32 };

/** Heads of our chain that are remembered: a node that is further behind is not counted until it has caught up. */
const MOST_HEADS = 20_000n;

/** What one node has shown. */
type Shown = {
  /** The largest count at which its head was ours, null before the first. */
  agreed: bigint | null;
  /** What it shows, until our chain has come there. */
  ahead: ChainHead | null;
};

/** Up to which event enough nodes have shown the chain that this service holds: two of several, or the only one. */
export class NodeAgreement {
  readonly #nodes: ReadonlyArray<Shown>;
  readonly #heads = new Map<bigint, Hash32>();
  #last: ChainHead = { count: 0n, head: hash32FromBytes(firstHead()) };
  /** Nodes, by their place, that showed another head than ours at a count. */
  readonly contradicted = new Set<number>();

  constructor(nodes: number) {
    this.#nodes = Array.from({ length: nodes }, () => ({ agreed: null, ahead: null }));
  }

  /** How many nodes there are. */
  get nodes(): number {
    return this.#nodes.length;
  }

  /** Begins our chain at a head of it, the one before the first event by default. What nodes agreed to before is forgotten. */
  begin(head: ChainHead = { count: 0n, head: hash32FromBytes(firstHead()) }): void {
    this.#heads.clear();
    for (const node of this.#nodes) node.agreed = null;
    this.contradicted.clear();
    this.#keep(head);
  }

  /** Continues our chain by the leaf of an event. Leaves that are in it already are passed over. */
  follow(seq: bigint, leaf: Uint8Array): void {
    if (seq !== this.#last.count + 1n) return;
    const head = hash32FromBytes(headAfter(hash32ToBytes(this.#last.head), leaf));
    this.#keep({ count: seq, head });
  }

  /** Our chain's head after an event; undefined for one that it has not reached, or that lies far back. */
  headAt(count: bigint): Hash32 | undefined {
    return this.#heads.get(count);
  }

  /** Notes what a node shows. */
  shown(node: number, head: ChainHead): void {
    const known = this.#nodes[node];
    if (known !== undefined) known.ahead = head;
  }

  /** The largest count that enough nodes agree on, null without any. */
  agreed(): bigint | null {
    if (this.#nodes.length === 1) return this.#last.count;
    this.#nodes.forEach((node, at) => {
      if (node.ahead === null) return;
      const ours = this.#heads.get(node.ahead.count);
      if (ours === undefined) return;
      if (ours === node.ahead.head) {
        this.contradicted.delete(at);
        if (node.agreed === null || node.ahead.count > node.agreed) node.agreed = node.ahead.count;
      } else this.contradicted.add(at);
      node.ahead = null;
    });
    const counts = this.#nodes.flatMap(({ agreed }) => (agreed === null ? [] : [agreed]));
    return counts.toSorted((a, b) => (a > b ? -1 : 1))[1] ?? null;
  }

  #keep(head: ChainHead): void {
    this.#last = head;
    this.#heads.set(head.count, head.head);
    // Heads come one event after the other, so the oldest one has this count. Asking the Map for its first key is slow after many removals.
    this.#heads.delete(head.count - MOST_HEADS);
  }
}
