import { Effect } from "effect";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { type Hash32, hash32FromBytes } from "../../../domain/hash32.ts";
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
  /** The roots at the sizes that were asked for, and at that of all leaves. */
  readonly roots: ReadonlyMap<number, Hash32>;
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
 * Compares the store's first `size` leaves with heads that were signed, and tells the roots at `sizes`. `heads` ascend.
 * None of them is larger than `size`.
 */
export const checkLeaves = Effect.fnUntraced(function* (
  tree: LogTree,
  size: number,
  heads: ReadonlyArray<SignedHead>,
  sizes: ReadonlyArray<number>,
) {
  const wanted = new Set([...heads.map((head) => head.size), ...sizes, size]);
  const roots = new Map<number, Hash32>();
  const tiles = new TileBuilder(() => {});
  let firstDifference: number | null = null;
  for (let from = 0; from < size; from += TILE_WIDTH) {
    const leaves = yield* readLeaves(tree, from, Math.min(TILE_WIDTH, size - from));
    for (const leaf of leaves) {
      tiles.append(leaf);
      if (wanted.has(tiles.size)) roots.set(tiles.size, hash32FromBytes(tiles.head().root));
    }
    if (leaves.length === TILE_WIDTH)
      firstDifference ??= yield* differenceFromKept(tree, from, leaves);
  }
  const contradicted = heads.find((head) => roots.get(head.size) !== head.root) ?? null;
  const verdict: LeavesVerdict = { contradicted, firstDifference, roots };
  return verdict;
});

/**
 * Heads of a node that wait until our tree has come there. More are not kept: a node that is that far ahead is not
 * waited for.
 */
const MOST_WAITING = 64;

/** What one node has shown. */
type Shown = {
  /** The largest size at which its root was ours, null before the first. */
  agreed: number | null;
  /** Heads that were not compared yet, in the order in which they were read. */
  waiting: Array<SizedRoot>;
};

/** A size and the root of the custody program's log at it. */
type SizedRoot = Pick<SignedHead, "size" | "root">;

/** Up to which size enough nodes have shown the tree that this service holds: two of several. */
export class NodeAgreement {
  readonly #nodes: ReadonlyArray<Shown>;
  /** Nodes, by their place, that showed another root than ours at a size. */
  readonly contradicted = new Set<number>();

  constructor(nodes: number) {
    this.#nodes = Array.from({ length: nodes }, () => ({ agreed: null, waiting: [] }));
  }

  /** Forgets what nodes agreed to: our tree is made anew, and may be another one. */
  begin(): void {
    for (const node of this.#nodes) node.agreed = null;
    this.contradicted.clear();
  }

  /** Notes what a node shows. */
  shown(place: number, head: SizedRoot): void {
    const node = this.#nodes[place];
    if (node === undefined) return;
    if (node.waiting.at(-1)?.size === head.size) node.waiting.pop();
    node.waiting.push(head);
    if (node.waiting.length > MOST_WAITING) node.waiting.shift();
  }

  /** The sizes up to ours whose roots `compare` needs: of each node the newest. */
  sizesTo(size: number): ReadonlyArray<number> {
    const newest = this.#nodes.map(({ waiting }) => waiting.findLast((head) => head.size <= size));
    return [...new Set(newest.flatMap((head) => (head === undefined ? [] : [head.size])))];
  }

  /** Compares what nodes show with our roots, by their sizes. What lies beyond them waits. */
  compare(ours: ReadonlyMap<number, Hash32>): void {
    this.#nodes.forEach((node, place) => {
      const at = node.waiting.findLastIndex(({ size }) => ours.has(size));
      const head = node.waiting[at];
      if (head === undefined) return;
      node.waiting.splice(0, at + 1);
      if (head.root === ours.get(head.size)) {
        this.contradicted.delete(place);
        node.agreed = Math.max(node.agreed ?? 0, head.size);
      } else this.contradicted.add(place);
    });
  }

  /** The largest size that enough nodes agree on, null without any. */
  agreed(): number | null {
    const sizes = this.#nodes.flatMap(({ agreed }) => (agreed === null ? [] : [agreed]));
    return sizes.toSorted((a, b) => b - a)[1] ?? null;
  }
}
