import { Effect } from "effect";
import { encodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import { TileBuilder } from "../../../log/tiles/tile-builder.ts";
import {
  partialTiles,
  rootOfFullTile,
  type Tile,
  TILE_WIDTH,
  tilePath,
} from "../../../log/tiles/tile-path.ts";
import type { TreeHead } from "../../../log/tree/tree-edge.ts";
import { HASH_LENGTH, isSameHash, leafHash } from "../../../log/tree/tree-hash.ts";
import { type FullTile, LogStore } from "../../../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { hash32FromBytes } from "../../../domain/hash32.ts";
import type { SignedHead } from "../log-standing.ts";
import { keptPath, type LogTree, readLeaves, readRoot, readTile } from "../read-tree.ts";

/** Leaves read at once, some milliseconds of work: four full tiles. */
const LEAVES_AT_ONCE = 4 * TILE_WIDTH;
/** Tiles and bundles held until enough nodes agree on them, 26 MB: those of 262,144 leaves. */
const MOST_HELD = 2048;
/** Dropped tiles that are made anew and kept at once, each with its bundle. */
const REMADE_AT_ONCE = 8;

/** A log's tree as it grows. One fiber at a time may use it. */
export type GrowingTree = {
  readonly size: () => number;
  readonly head: () => TreeHead;
  /** Appends the store's leaves up to `size`. After a failure, which is the store's, the tree is begun anew. */
  readonly growTo: (size: number) => ReturnType<typeof grow>;
  /**
   * Has the store keep the full tiles of the first `size` leaves, which enough nodes agree on. Fails where the store's
   * leaves are other ones than those that the tree grew from, and then keeps none that differs.
   */
  readonly keepTo: (size: number) => ReturnType<typeof keep>;
};

/** A full tile of level 0 that is not held, nor is its bundle. Its root tells whether the leaves are still the same. */
type Dropped = { readonly index: number; readonly root: Uint8Array };

type Builder = {
  readonly tree: LogTree;
  readonly tiles: TileBuilder;
  /** Full tiles that the store does not have yet, each with the size at which it is full. */
  readonly held: Array<FullTile & { readonly fullAt: number }>;
  /** Full tiles that were too many to hold, in order. */
  readonly dropped: Array<Dropped>;
};

/** The size at which a tile or bundle is full. */
const fullAt = ({ level, index }: Tile): number =>
  (index + 1) * TILE_WIDTH ** (level === "entries" ? 1 : level + 1);

/** A dropped tile and its bundle, of the store's leaves. */
const makeAnew = Effect.fnUntraced(function* (tree: LogTree, { index, root }: Dropped) {
  const leaves = yield* readLeaves(tree, index * TILE_WIDTH, TILE_WIDTH);
  const hashes = hashesOf(leaves);
  const [tile, bundle] = [
    { level: 0, index, width: TILE_WIDTH },
    { level: "entries", index, width: TILE_WIDTH },
  ] as const;
  if (isSameHash(rootOfFullTile(hashes), root))
    return [
      { path: keptPath(tree, tile), bytes: hashes },
      { path: keptPath(tree, bundle), bytes: encodeEntryBundle(leaves) },
    ] satisfies ReadonlyArray<FullTile>;
  const cause = `the store's leaves give another ${tilePath(tile)} than they did before`;
  return yield* new StoreUnavailable({ retryable: true, cause });
});

const keep = Effect.fnUntraced(function* ({ tree, held, dropped }: Builder, size: number) {
  const store = yield* LogStore;
  const agreed = held.filter((tile) => tile.fullAt <= size);
  if (agreed.length > 0) {
    yield* store.keepTiles(agreed.map(({ path, bytes }) => ({ path, bytes })));
    held.splice(0, held.length, ...held.filter((tile) => tile.fullAt > size));
  }
  const isAgreed = ({ index }: Dropped): boolean => (index + 1) * TILE_WIDTH <= size;
  for (;;) {
    const next = dropped.slice(0, REMADE_AT_ONCE).filter(isAgreed);
    if (next.length === 0) return;
    const made = yield* Effect.forEach(next, (each) => makeAnew(tree, each));
    yield* store.keepTiles(made.flat());
    dropped.splice(0, next.length);
  }
});

const grow = Effect.fnUntraced(function* ({ tree, tiles }: Builder, size: number) {
  while (tiles.size < size) {
    const from = tiles.size;
    const leaves = yield* readLeaves(tree, from, Math.min(LEAVES_AT_ONCE, size - from));
    for (const leaf of leaves) tiles.append(leaf);
  }
});

/** The hashes of leaves, one behind another. */
const hashesOf = (leaves: ReadonlyArray<Uint8Array>): Uint8Array => {
  const hashes = new Uint8Array(leaves.length * HASH_LENGTH);
  leaves.forEach((leaf, at) => hashes.set(leafHash(leaf), at * HASH_LENGTH));
  return hashes;
};

/** The partial tiles of a size. The bundle's entries and their hashes come from one reading of the leaves. */
const readPartials = Effect.fnUntraced(function* (tree: LogTree, size: number) {
  const partial = new Map<string, Uint8Array>();
  for (const tile of partialTiles(size)) {
    const { level, index, width } = tile;
    if (level === "entries") {
      const leaves = yield* readLeaves(tree, index * TILE_WIDTH, width);
      partial.set(tilePath(tile), encodeEntryBundle(leaves));
      partial.set(tilePath({ ...tile, level: 0 }), hashesOf(leaves));
    } else if (level > 0) partial.set(tilePath(tile), yield* readTile(tree, tile));
  }
  return partial;
});

/**
 * The tree of the first `size` leaves, whose full tiles the store has. It begins at leaf 0 where `size` is 0. Of the
 * tiles that fill, at most `mostHeld` are held until `keepTo`; further ones are made of the leaves again.
 */
export const beginTree = Effect.fnUntraced(function* (
  tree: LogTree,
  size: number,
  mostHeld = MOST_HELD,
) {
  const partial = yield* readPartials(tree, size);
  const held: Builder["held"] = [];
  const dropped: Builder["dropped"] = [];
  const tiles = new TileBuilder(
    (tile, bytes) => {
      const { level, index } = tile;
      if (level === 0 && (dropped.length > 0 || held.length >= mostHeld))
        dropped.push({ index, root: rootOfFullTile(bytes) });
      // A bundle goes the way of the tile that hashes it. Of 65,536 leaves there is one tile of a higher level.
      else if (level !== "entries" || dropped.at(-1)?.index !== index)
        held.push({ path: keptPath(tree, tile), bytes, fullAt: fullAt(tile) });
    },
    { size, read: (tile) => partial.get(tilePath(tile)) ?? new Uint8Array() },
  );
  const builder: Builder = { tree, tiles, held, dropped };
  const growing: GrowingTree = {
    size: () => tiles.size,
    head: () => tiles.head(),
    growTo: (to) => grow(builder, to),
    keepTo: (to) => keep(builder, to),
  };
  return growing;
});

/**
 * The tree at the head signed last, null before the first, from the kept tiles; null when they do not give its root, or
 * not that of the head beside the key.
 */
export const keptTree = Effect.fnUntraced(function* (
  tree: LogTree,
  last: SignedHead | null,
  remembered: SignedHead | null,
) {
  if (last === null) return yield* beginTree(tree, 0);
  if (remembered !== null && remembered.size <= last.size) {
    const root = yield* readRoot(tree, remembered.size);
    if (hash32FromBytes(root) !== remembered.root) return null;
  }
  const kept = yield* beginTree(tree, last.size);
  return hash32FromBytes(kept.head().root) === last.root ? kept : null;
});
