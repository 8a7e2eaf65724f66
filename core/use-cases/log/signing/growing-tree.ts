import { Effect } from "effect";
import { TileBuilder } from "../../../log/tiles/tile-builder.ts";
import { TILE_WIDTH, tilePath } from "../../../log/tiles/tile-path.ts";
import { partialTiles } from "../../../log/tiles/tile-plan.ts";
import type { TreeHead } from "../../../log/tree/tree-edge.ts";
import { type FullTile, LogStore } from "../../../../ports/log/log-store.ts";
import { keptPath, type LogTree, readLeaves, readTile } from "../read-tree.ts";

/** Leaves read at once, some milliseconds of work: four full tiles. */
const LEAVES_AT_ONCE = 4 * TILE_WIDTH;

/** A log's tree as it grows. One fiber at a time may use it. */
export type GrowingTree = {
  readonly size: () => number;
  readonly head: () => TreeHead;
  /**
   * Appends the store's leaves up to `size`, and calls `each` for every one. After a failure, which is the store's, the tree
   * is begun anew.
   */
  readonly growTo: (size: number, each?: EachLeaf) => ReturnType<typeof grow>;
  /** Has the store keep the full tiles of the first `size` leaves, which enough nodes agree on. */
  readonly keepTo: (size: number) => ReturnType<typeof keep>;
};

type EachLeaf = (index: number, leaf: Uint8Array) => void;

type Builder = {
  readonly tree: LogTree;
  readonly tiles: TileBuilder;
  /** Full tiles that the store does not have yet, each with the size at which it is full. */
  readonly full: Array<FullTile & { readonly fullAt: number }>;
  /** Whether tiles are kept as they fill, because nobody else has to agree on their leaves. */
  readonly isAgreed: boolean;
};

const keep = Effect.fnUntraced(function* ({ full }: Builder, size: number) {
  const store = yield* LogStore;
  const agreed = full.filter(({ fullAt }) => fullAt <= size);
  if (agreed.length === 0) return;
  yield* store.keepTiles(agreed.map(({ path, bytes }) => ({ path, bytes })));
  full.splice(0, full.length, ...full.filter(({ fullAt }) => fullAt > size));
});

const grow = Effect.fnUntraced(function* (builder: Builder, size: number, each?: EachLeaf) {
  const { tree, tiles } = builder;
  while (tiles.size < size) {
    const from = tiles.size;
    const leaves = yield* readLeaves(tree, from, Math.min(LEAVES_AT_ONCE, size - from));
    for (const [at, leaf] of leaves.entries()) {
      tiles.append(leaf);
      each?.(from + at, leaf);
    }
    if (builder.isAgreed) yield* keep(builder, tiles.size);
  }
});

/**
 * The tree of the first `size` leaves, whose full tiles the store has. It begins at leaf 0 where `size` is 0. `isAgreed` says that
 * tiles are kept as they fill; otherwise they are held until `keepTo`.
 */
export const beginTree = Effect.fnUntraced(function* (
  tree: LogTree,
  size: number,
  isAgreed: boolean,
) {
  const partial = new Map<string, Uint8Array>();
  for (const tile of partialTiles(size)) partial.set(tilePath(tile), yield* readTile(tree, tile));
  const full: Builder["full"] = [];
  const tiles = new TileBuilder(
    (tile, bytes) => {
      const leaves = TILE_WIDTH ** (tile.level === "entries" ? 1 : tile.level + 1);
      full.push({ path: keptPath(tree, tile), bytes, fullAt: (tile.index + 1) * leaves });
    },
    { size, read: (tile) => partial.get(tilePath(tile)) ?? new Uint8Array() },
  );
  const builder: Builder = { tree, tiles, full, isAgreed };
  const growing: GrowingTree = {
    size: () => tiles.size,
    head: () => tiles.head(),
    growTo: (to, each) => grow(builder, to, each),
    keepTo: (to) => keep(builder, to),
  };
  return growing;
});
