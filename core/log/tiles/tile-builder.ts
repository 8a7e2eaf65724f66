import { TreeEdge, type TreeHead } from "../tree/tree-edge.ts";
import { foldHashes, HASH_LENGTH, writeLeafHash } from "../tree/tree-hash.ts";
import { decodeEntryBundle, EntryBundle } from "./entry-bundle.ts";
import { partialTiles, rootOfFullTile, type Tile, TILE_WIDTH, tilePath } from "./tile-path.ts";

/** Takes a tile's or a bundle's bytes, which it then owns. */
export type TileSink = (tile: Tile, bytes: Uint8Array) => void;

/** A tree that was built before: its size, and its partial tiles (`partialTiles` names them). */
export type BuiltTree = { readonly size: number; readonly read: (tile: Tile) => Uint8Array };

/** The tile of a level that is being filled. Its bytes are used for one tile after another. */
type OpenTile = {
  readonly bytes: Uint8Array;
  /** Views of its hashes, made when first needed: making one costs a third of a hash. */
  readonly places: Array<Uint8Array>;
  width: number;
  index: number;
};

const openTile = (index: number): OpenTile => ({
  bytes: new Uint8Array(TILE_WIDTH * HASH_LENGTH),
  places: [],
  width: 0,
  index,
});

const nothing = (): Uint8Array => new Uint8Array();

/** Makes all tiles and bundles of a growing log in one pass, and holds one open tile a level. */
export class TileBuilder {
  readonly #sink: TileSink;
  readonly #bundle = new EntryBundle();
  readonly #open: Array<OpenTile> = [];
  #size = 0;

  /**
   * Begins at an empty tree, or goes on with one that was built before. Full tiles go to the sink as they fill.
   * @throws RangeError for a partial tile of another length. Whether it is the right one only `head` shows.
   */
  constructor(sink: TileSink, { size, read }: BuiltTree = { size: 0, read: nothing }) {
    this.#sink = sink;
    this.#size = size;
    for (let rest = size, level = 0; rest > 0; rest = Math.floor(rest / TILE_WIDTH), level++)
      this.#open[level] = openTile(Math.floor(rest / TILE_WIDTH));
    for (const tile of partialTiles(size)) this.#restore(tile, read(tile));
  }

  /** How many leaves were appended. */
  get size(): number {
    return this.#size;
  }

  /** Appends a leaf. @throws RangeError for one of more than 65,535 bytes. */
  append(leaf: Uint8Array): void {
    this.#bundle.append(leaf);
    writeLeafHash(leaf, this.#place(0));
    this.#fill(0);
    this.#size += 1;
    if (this.#size % TILE_WIDTH !== 0) return;
    const index = this.#size / TILE_WIDTH - 1;
    this.#sink({ level: "entries", index, width: TILE_WIDTH }, this.#bundle.bytes());
    this.#bundle.clear();
  }

  /** Gives the sink the partial tiles and the partial bundle of the present size. */
  writePartials(): void {
    for (const tile of partialTiles(this.#size)) {
      if (tile.level === "entries") this.#sink(tile, this.#bundle.bytes());
      else this.#sink(tile, this.#hashesAt(tile.level, 0, tile.width));
    }
  }

  /** Size and root of the tree. */
  head(): TreeHead {
    const roots: Array<Uint8Array> = [];
    for (let level = this.#open.length - 1; level >= 0; level--) {
      const width = this.#open[level]?.width ?? 0;
      for (let count = TILE_WIDTH / 2, at = 0; count >= 1; count /= 2)
        if ((width & count) !== 0) {
          roots.push(foldHashes(this.#hashesAt(level, at, count)));
          at += count;
        }
    }
    return { size: this.#size, root: new TreeEdge(this.#size, roots).root() };
  }

  /** A copy of hashes of the open tile of a level. */
  #hashesAt(level: number, from: number, count: number): Uint8Array {
    const bytes = this.#open[level]?.bytes ?? nothing();
    return bytes.slice(from * HASH_LENGTH, (from + count) * HASH_LENGTH);
  }

  /** Where the next hash of a level is written. `#fill` takes it. */
  #place(level: number): Uint8Array {
    const { bytes, places, width } = (this.#open[level] ??= openTile(0));
    return (places[width] ??= bytes.subarray(width * HASH_LENGTH, (width + 1) * HASH_LENGTH));
  }

  #fill(level: number): void {
    const tile = (this.#open[level] ??= openTile(0));
    tile.width += 1;
    if (tile.width < TILE_WIDTH) return;
    const { bytes, index } = tile;
    tile.width = 0;
    tile.index += 1;
    this.#sink({ level, index, width: TILE_WIDTH }, bytes.slice());
    this.#place(level + 1).set(rootOfFullTile(bytes));
    this.#fill(level + 1);
  }

  #restore({ level, index, width }: Tile, bytes: Uint8Array): void {
    if (level === "entries") {
      const decoded = decodeEntryBundle(bytes, width);
      if ("fault" in decoded) throw new RangeError(`entries ${index}: ${decoded.fault}`);
      for (const entry of decoded.value) this.#bundle.append(entry);
      return;
    }
    const tile = this.#open[level];
    if (tile === undefined || bytes.length !== width * HASH_LENGTH)
      throw new RangeError(`${tilePath({ level, index, width })} has ${bytes.length} bytes`);
    tile.bytes.set(bytes);
    tile.width = width;
  }
}
