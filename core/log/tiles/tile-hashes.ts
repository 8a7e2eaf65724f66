import { type HashSource, type LeafRange, type Subtree, subtreesOf } from "../tree/subtree.ts";
import { foldHashes, HASH_LENGTH } from "../tree/tree-hash.ts";
import { type Tile, TILE_WIDTH, tilePath } from "./tile-path.ts";
import { tileWidthIn } from "./tile-plan.ts";

/** Levels of the tree that one level of tiles spans. */
const TILE_HEIGHT = 8;

/** Where the hashes below a subtree stand in a tile. */
type Place = {
  readonly level: number;
  readonly index: number;
  readonly offset: number;
  readonly count: number;
};

const placeOf = ({ level, index }: Subtree): Place => {
  const count = 2 ** (level % TILE_HEIGHT);
  const first = index * count;
  return {
    level: Math.floor(level / TILE_HEIGHT),
    index: Math.floor(first / TILE_WIDTH),
    offset: first % TILE_WIDTH,
    count,
  };
};

/** The tile of a tree of `size` leaves that a subtree's hash is read from. */
const tileOf = (subtree: Subtree, size: number): Tile => {
  const { level, index } = placeOf(subtree);
  return { level, index, width: tileWidthIn({ level, index }, size) };
};

/** The tiles of a tree of `size` leaves that the hashes of ranges are read from, each once. */
export const tilesOfRanges = (
  ranges: ReadonlyArray<LeafRange>,
  size: number,
): ReadonlyArray<Tile> => {
  const tiles = ranges.flatMap(subtreesOf).map((subtree) => tileOf(subtree, size));
  return [...new Map(tiles.map((tile) => [tilePath(tile), tile])).values()];
};

/**
 * A source of the hashes of a tree of `size` leaves, from its tiles. `read` has the tiles that `tilesOfRanges` names.
 * @throws RangeError for a tile of another length than its width says, and for a subtree beyond the tree.
 */
export const tileSource =
  (size: number, read: (tile: Tile) => Uint8Array): HashSource =>
  (subtree) => {
    const { offset, count } = placeOf(subtree);
    const tile = tileOf(subtree, size);
    if (offset + count > tile.width)
      throw new RangeError(`no subtree ${subtree.level}/${subtree.index} in ${size} leaves`);
    const bytes = read(tile);
    if (bytes.length !== tile.width * HASH_LENGTH)
      throw new RangeError(`${tilePath(tile)} has ${bytes.length} bytes`);
    return foldHashes(bytes.subarray(offset * HASH_LENGTH, (offset + count) * HASH_LENGTH));
  };

/** The hash that a full tile becomes in the tile above it. @throws RangeError unless it has 256 hashes. */
export const rootOfFullTile = (bytes: Uint8Array): Uint8Array => {
  if (bytes.length !== TILE_WIDTH * HASH_LENGTH)
    throw new RangeError(`a full tile has 8192 bytes, not ${bytes.length}`);
  return foldHashes(bytes);
};
