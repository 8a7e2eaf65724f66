/** The hashes of a full tile, and the entries of a full bundle (C2SP tlog-tiles, "Merkle Tree"). */
export const TILE_WIDTH = 256;

/** The level of a tile of hashes, [0, 63], or the bundles of entries beside level 0. */
export type TileLevel = number | "entries";

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
