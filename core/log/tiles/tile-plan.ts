import { type Tile, TILE_WIDTH, type TileLevel } from "./tile-path.ts";

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
 * How many hashes or entries a tile has in a tree of `size` leaves: [0, 256], 0 for none. A tile with a width up to that
 * can be served (C2SP tlog-tiles, "Partial Tiles").
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
