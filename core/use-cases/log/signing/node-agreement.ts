import { Effect } from "effect";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../../domain/hash32.ts";
import { firstHead, headAfter } from "../../../log/leaf/leaf-chain.ts";
import { decodeEntryBundle, encodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import { TileBuilder } from "../../../log/tiles/tile-builder.ts";
import { TILE_WIDTH } from "../../../log/tiles/tile-path.ts";
import type { SignedHead } from "../log-standing.ts";
import { keptPath, type LogTree, readLeaves } from "../read-tree.ts";

/** What the store's leaves themselves say, without any kept tile. */
type LeavesVerdict = {
  /** The first head, smallest first, that the leaves do not give. */
  readonly contradicted: SignedHead | null;
  /** The first index at which the leaves differ from a kept bundle; null where none differs. */
  readonly firstDifference: number | null;
  /** The chain over all leaves. */
  readonly chain: Hash32;
};

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** The first place at which leaves differ from the kept bundle that begins at their first index; null without one. */
const differenceFromKept = Effect.fnUntraced(function* (
  tree: LogTree,
  from: number,
  leaves: ReadonlyArray<Uint8Array>,
) {
  const store = yield* LogStore;
  const tile = { level: "entries", index: from / TILE_WIDTH, width: TILE_WIDTH } as const;
  const kept = yield* store.tile(keptPath(tree, tile));
  if (kept === null || isEqual(kept, encodeEntryBundle(leaves))) return null;
  const entries = decodeEntryBundle(kept, TILE_WIDTH);
  if ("fault" in entries) return null;
  const at = leaves.findIndex((leaf, i) => !isEqual(leaf, entries.value[i] ?? new Uint8Array()));
  return from + at;
});

/**
 * Compares the store's first `size` leaves with heads that were signed, and calls `each` for every leaf. `heads` ascend and are
 * not larger.
 */
export const checkLeaves = Effect.fnUntraced(function* (
  tree: LogTree,
  size: number,
  heads: ReadonlyArray<SignedHead>,
  each: (index: number, leaf: Uint8Array) => void,
) {
  const waiting = [...heads];
  const tiles = new TileBuilder(() => {});
  let chain = firstHead();
  let contradicted: SignedHead | null = null;
  let firstDifference: number | null = null;
  for (let from = 0; from < size; from += TILE_WIDTH) {
    const leaves = yield* readLeaves(tree, from, Math.min(TILE_WIDTH, size - from));
    for (const [at, leaf] of leaves.entries()) {
      tiles.append(leaf);
      each(from + at, leaf);
      if (from + at > 0) chain = headAfter(chain, leaf);
      while (waiting[0]?.size === tiles.size) {
        const [head] = waiting.splice(0, 1);
        if (head !== undefined && head.root !== hash32FromBytes(tiles.head().root))
          contradicted ??= head;
      }
    }
    if (leaves.length === TILE_WIDTH)
      firstDifference ??= yield* differenceFromKept(tree, from, leaves);
  }
  const verdict: LeavesVerdict = { contradicted, firstDifference, chain: hash32FromBytes(chain) };
  return verdict;
});

/** The count and head of the custody program's chain, as a node shows them. */
type ChainHead = { readonly count: bigint; readonly head: Hash32 };

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
