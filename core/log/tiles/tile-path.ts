import { type HashSource, type LeafRange, type Subtree, subtreesOf } from "../tree/subtree.ts";
import { foldHashes, HASH_LENGTH } from "../tree/tree-hash.ts";

/** The hashes of a full tile, and the entries of a full bundle (C2SP tlog-tiles, "Merkle Tree"). */
export const TILE_WIDTH = 256;

/** The level of a tile of hashes, [0, 63], or the bundles of entries beside level 0. */
type TileLevel = number | "entries";

/** A tile of hashes or a bundle of entries of a log (C2SP tlog-tiles). */
export type Tile = {
  readonly level: TileLevel;
  /** Which one of its level, from 0 on. */
  readonly index: number;
  /** How many hashes or entries it has: 256 when full, [1, 255] when partial. */
  readonly width: number;
};

const MAX_LEVEL = 63;

/** 1234067 as x001/x234/067. */
const indexPath = (index: number): string => {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const groups = padded.match(/[0-9]{3}/g) ?? [];
  return groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join("/");
};

/** The path of a tile below the log's prefix: `tile/<L>/<N>`, followed by `.p/<W>` if it is partial. */
export const tilePath = ({ level, index, width }: Tile): string =>
  `tile/${level}/${indexPath(index)}${width === TILE_WIDTH ? "" : `.p/${width}`}`;

const PATH =
  /^tile\/(entries|[0-9]{1,2})\/((?:x[0-9]{3}\/){0,5}[0-9]{3})(?:\.p\/([1-9][0-9]{0,2}))?$/;

/** The tile of a path below the log's prefix; undefined for a path that `tilePath` would not print so. */
export const parseTilePath = (path: string): Tile | undefined => {
  const [, level = "", index = "", width] = PATH.exec(path) ?? [];
  const tile: Tile = {
    level: level === "entries" ? level : Number(level),
    index: Number(index.replaceAll(/[x/]/g, "")),
    width: width === undefined ? TILE_WIDTH : Number(width),
  };
  if (!Number.isSafeInteger(tile.index) || tile.width > TILE_WIDTH) return undefined;
  if (tile.level !== "entries" && tile.level > MAX_LEVEL) return undefined;
  return tilePath(tile) === path ? tile : undefined;
};

/** How many hashes or entries a level has in a tree of a size: floor(size / 256^level). */
const countAt = (level: TileLevel, size: number): number =>
  level === "entries" ? size : Math.floor(size / TILE_WIDTH ** level);

/** The levels that a tree of a size has hashes at, with the entries before them. */
const levelsOf = (size: number): ReadonlyArray<TileLevel> => {
  const levels: Array<TileLevel> = size > 0 ? ["entries"] : [];
  for (let level = 0; countAt(level, size) > 0; level++) levels.push(level);
  return levels;
};

/**
 * How many hashes or entries a tile has in a tree of `size` leaves: [0, 256], 0 for none. A tile with a width up to
 * that can be served (C2SP tlog-tiles, "Partial Tiles").
 */
export const tileWidthIn = ({ level, index }: Omit<Tile, "width">, size: number): number =>
  Math.min(TILE_WIDTH, Math.max(0, countAt(level, size) - index * TILE_WIDTH));

/** The partial tiles and the partial bundle of a tree of a size: at most one a level, the entries first. */
export const partialTiles = (size: number): ReadonlyArray<Tile> =>
  levelsOf(size).flatMap((level) => {
    const count = countAt(level, size);
    const width = count % TILE_WIDTH;
    return width === 0 ? [] : [{ level, index: Math.floor(count / TILE_WIDTH), width }];
  });

/** The tiles and bundles that are full in a tree of a size and were not in one of `oldSize`, level by level. */
export const fullTilesSince = function* (oldSize: number, size: number): Generator<Tile> {
  for (const level of levelsOf(size)) {
    const end = Math.floor(countAt(level, size) / TILE_WIDTH);
    const start = Math.floor(countAt(level, oldSize) / TILE_WIDTH);
    for (let index = start; index < end; index++) yield { level, index, width: TILE_WIDTH };
  }
};

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
