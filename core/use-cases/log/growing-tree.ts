import { Effect } from "effect";
import { TileBuilder } from "../../log/tiles/tile-builder.ts";
import { TILE_WIDTH, tilePath } from "../../log/tiles/tile-path.ts";
import { partialTiles } from "../../log/tiles/tile-plan.ts";
import type { TreeHead } from "../../log/tree/tree-edge.ts";
import { type FullTile, LogStore } from "../../../ports/log-store.ts";
import { keptPath, type LogTree, readLeaves, readTile } from "./read-tree.ts";

/** Leaves read at once, some milliseconds of work: four full tiles. */
const LEAVES_AT_ONCE = 4 * TILE_WIDTH;

/** A log's tree as it grows. Full tiles are in the store before `head` covers them. One fiber at a time may use it. */
export type GrowingTree = {
  readonly size: () => number;
  readonly head: () => TreeHead;
  /**
   * Appends the store's leaves up to `size`, and calls `each` for every one. After a failure, which is the store's, the tree
   * is begun anew.
   */
  readonly growTo: (size: number, each?: EachLeaf) => ReturnType<typeof grow>;
};

type EachLeaf = (index: number, leaf: Uint8Array) => void;

type Builder = {
  readonly tree: LogTree;
  readonly tiles: TileBuilder;
  /** Full tiles that the store does not have yet. */
  readonly full: Array<FullTile>;
};

const grow = Effect.fnUntraced(function* (
  { tree, tiles, full }: Builder,
  size: number,
  each?: EachLeaf,
) {
  const store = yield* LogStore;
  while (tiles.size < size) {
    const from = tiles.size;
    const leaves = yield* readLeaves(tree, from, Math.min(LEAVES_AT_ONCE, size - from));
    for (const [at, leaf] of leaves.entries()) {
      tiles.append(leaf);
      each?.(from + at, leaf);
    }
    if (full.length > 0) yield* store.keepTiles(full.splice(0));
  }
});

/** The tree of the first `size` leaves, whose full tiles the store has. It begins at leaf 0 where `size` is 0. */
export const beginTree = Effect.fnUntraced(function* (tree: LogTree, size: number) {
  const partial = new Map<string, Uint8Array>();
  for (const tile of partialTiles(size)) partial.set(tilePath(tile), yield* readTile(tree, tile));
  const full: Array<FullTile> = [];
  const tiles = new TileBuilder(
    (tile, bytes) => {
      full.push({ path: keptPath(tree, tile), bytes });
    },
    { size, read: (tile) => partial.get(tilePath(tile)) ?? new Uint8Array() },
  );
  const growing: GrowingTree = {
    size: () => tiles.size,
    head: () => tiles.head(),
    growTo: (to, each) => grow({ tree, tiles, full }, to, each),
  };
  return growing;
});
