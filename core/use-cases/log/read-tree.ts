import { Effect } from "effect";
import { encodeEntryBundle } from "../../log/tiles/entry-bundle.ts";
import {
  rootOfFullTile,
  type Tile,
  TILE_WIDTH,
  tilePath,
  tilesOfRanges,
  tileSource,
} from "../../log/tiles/tile-path.ts";
import { consistencyPath, inclusionPath } from "../../log/tree/tree-proofs.ts";
import { hashOfRange, type LeafRange } from "../../log/tree/subtree.ts";
import { HASH_LENGTH, leafHash } from "../../log/tree/tree-hash.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";

/** Which log's tree is read: its leaf 0, and the generation under which its full tiles are kept. */
export type LogTree = { readonly networkLeaf: Uint8Array; readonly generation: number };

/** Where the store keeps a full tile. */
export const keptPath = ({ generation }: LogTree, tile: Tile): string =>
  `${generation}/${tilePath(tile)}`;

/** The leaves `from` to `from + count` of the tree, leaf 0 included. Fails when the store does not have all of them. */
export const readLeaves = Effect.fnUntraced(function* (
  tree: LogTree,
  from: number,
  count: number,
): Effect.fn.Return<ReadonlyArray<Uint8Array>, StoreUnavailable, LogStore> {
  if (count === 0) return [];
  if (from === 0) return [tree.networkLeaf, ...(yield* readLeaves(tree, 1, count - 1))];
  const store = yield* LogStore;
  const leaves = yield* store.leaves(BigInt(from), count);
  if (leaves.length === count) return leaves;
  const cause = `the store has ${leaves.length} of the ${count} leaves from ${from} on`;
  return yield* new StoreUnavailable({ retryable: true, cause });
});

/** The kept bytes of a full tile, null where there are none. */
export const keptTile = Effect.fnUntraced(function* (tree: LogTree, tile: Tile) {
  const store = yield* LogStore;
  const kept = yield* store.tile(keptPath(tree, tile));
  // A damaged file is no tile; the leaves are the truth.
  const isWhole = tile.level === "entries" || kept?.length === tile.width * HASH_LENGTH;
  return isWhole ? kept : null;
});

const NOTHING = new Uint8Array();

/**
 * The bytes of a tile of the tree: the kept ones of a full tile, otherwise made of leaves, or of the tiles below, behind
 * the first hashes, where the caller knows those. The caller knows that the tree is large enough. Fails like the store.
 */
export const readTile = Effect.fnUntraced(function* (
  tree: LogTree,
  tile: Tile,
  begun: Uint8Array = NOTHING,
): Effect.fn.Return<Uint8Array, StoreUnavailable, LogStore> {
  const { level, index, width } = tile;
  if (width === TILE_WIDTH) {
    const kept = yield* keptTile(tree, tile);
    if (kept !== null) return kept;
  }
  const first = index * TILE_WIDTH;
  if (level === "entries") return encodeEntryBundle(yield* readLeaves(tree, first, width));
  const bytes = new Uint8Array(width * HASH_LENGTH);
  bytes.set(begun);
  const known = begun.length / HASH_LENGTH;
  if (level === 0) {
    const leaves = yield* readLeaves(tree, first + known, width - known);
    leaves.forEach((leaf, at) => bytes.set(leafHash(leaf), (known + at) * HASH_LENGTH));
    return bytes;
  }
  for (let at = known; at < width; at++) {
    const below = { level: level - 1, index: first + at, width: TILE_WIDTH };
    bytes.set(rootOfFullTile(yield* readTile(tree, below)), at * HASH_LENGTH);
  }
  return bytes;
});

/** How the tiles of a tree are read: as `readTile` does, or from memory. */
export type TileReader = (
  tree: LogTree,
  tile: Tile,
) => Effect.Effect<Uint8Array, StoreUnavailable, LogStore>;

/** The hashes of ranges of the tree's first `size` leaves. */
const readHashes = Effect.fnUntraced(function* (
  tree: LogTree,
  ranges: ReadonlyArray<LeafRange>,
  size: number,
  read: TileReader = readTile,
) {
  const tiles = new Map<string, Uint8Array>();
  for (const tile of tilesOfRanges(ranges, size))
    tiles.set(tilePath(tile), yield* read(tree, tile));
  const source = tileSource(size, (tile) => tiles.get(tilePath(tile)) ?? NOTHING);
  return ranges.map((range) => hashOfRange(range, source));
});

/** The root over the tree's first `size` leaves, 32 bytes. */
export const readRoot = Effect.fnUntraced(function* (tree: LogTree, size: number) {
  const [root] = yield* readHashes(tree, [{ from: 0, to: size }], size);
  if (root === undefined) throw new Error("one range has one hash");
  return root;
});

/** The inclusion proof of a leaf among the tree's first `size` leaves. */
export const readInclusionProof = (tree: LogTree, index: number, size: number, read?: TileReader) =>
  readHashes(tree, inclusionPath(index, size), size, read);

/** The proof that the tree's first `size` leaves begin with its first `oldSize`. */
export const readConsistencyProof = (tree: LogTree, oldSize: number, size: number) =>
  readHashes(tree, consistencyPath(oldSize, size), size);
