import { TileBuilder } from "../../core/log/tiles/tile-builder.ts";
import { tileSource } from "../../core/log/tiles/tile-hashes.ts";
import { type Tile, tilePath } from "../../core/log/tiles/tile-path.ts";
import type { HashSource } from "../../core/log/tree/subtree.ts";
import type { TreeHead } from "../../core/log/tree/tree-edge.ts";

/** The leaf that `leafOf` of go/trees.go makes: 66 bytes of the seed, behind the index as u32 BE. */
export const leafAt = (index: number, seed: number): Uint8Array => {
  const leaf = new Uint8Array(66).fill(seed);
  new DataView(leaf.buffer).setUint32(0, index);
  return leaf;
};

/** A log that was built in memory. */
export type BuiltLog = {
  readonly head: TreeHead;
  /** The hashes of the tree as it was at a size. */
  readonly at: (size: number) => HashSource;
};

/** Builds the log of `count` leaves from its tiles' bytes. */
export const buildLog = (count: number, seed: number): BuiltLog => {
  const tiles = new Map<string, Uint8Array>();
  const place = ({ level, index }: Tile): string => tilePath({ level, index, width: 256 });
  const builder = new TileBuilder((tile, bytes) => {
    if (tile.level !== "entries") tiles.set(place(tile), bytes);
  });
  for (let index = 0; index < count; index++) builder.append(leafAt(index, seed));
  builder.writePartials();
  const read = (tile: Tile): Uint8Array =>
    (tiles.get(place(tile)) ?? new Uint8Array()).subarray(0, tile.width * 32);
  return { head: builder.head(), at: (size) => tileSource(size, read) };
};
