import { TreeEdge, type TreeHead } from "../tree/tree-edge.ts";
import { HASH_LENGTH, joinHashes, leafHash, rootOfHashes, splitHashes } from "../tree/tree-hash.ts";
import { decodeEntryBundle, EntryBundle } from "./entry-bundle.ts";
import { type Tile, TILE_WIDTH, tilePath } from "./tile-path.ts";
import { partialTiles } from "./tile-plan.ts";

/** Takes a tile's or a bundle's bytes, which it then owns. */
export type TileSink = (tile: Tile, bytes: Uint8Array) => void;

/** A tree that was built before: its size, and its partial tiles (`partialTiles` names them). */
export type BuiltTree = { readonly size: number; readonly read: (tile: Tile) => Uint8Array };

/** The tile of a level that is being filled, as a list of hashes: `rootOfHashes` says why. */
type OpenTile = { hashes: Array<Uint8Array>; index: number };

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
      this.#open[level] = { hashes: [], index: Math.floor(rest / TILE_WIDTH) };
    for (const tile of partialTiles(size)) this.#restore(tile, read(tile));
  }

  /** How many leaves were appended. */
  get size(): number {
    return this.#size;
  }

  /** Appends a leaf. @throws RangeError for one of more than 65,535 bytes. */
  append(leaf: Uint8Array): void {
    this.#bundle.append(leaf);
    this.#push(0, leafHash(leaf));
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
      else this.#sink(tile, joinHashes(this.#open[tile.level]?.hashes ?? []));
    }
  }

  /** Size and root of the tree. */
  head(): TreeHead {
    const roots: Array<Uint8Array> = [];
    for (let level = this.#open.length - 1; level >= 0; level--) {
      const hashes = this.#open[level]?.hashes ?? [];
      for (let count = TILE_WIDTH / 2, at = 0; count >= 1; count /= 2)
        if ((hashes.length & count) !== 0) {
          roots.push(rootOfHashes(hashes.slice(at, at + count)));
          at += count;
        }
    }
    return { size: this.#size, root: new TreeEdge(this.#size, roots).root() };
  }

  #push(level: number, hash: Uint8Array): void {
    const tile = (this.#open[level] ??= { hashes: [], index: 0 });
    tile.hashes.push(hash);
    if (tile.hashes.length < TILE_WIDTH) return;
    const { hashes, index } = tile;
    tile.hashes = [];
    tile.index += 1;
    this.#sink({ level, index, width: TILE_WIDTH }, joinHashes(hashes));
    this.#push(level + 1, rootOfHashes(hashes));
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
    tile.hashes = splitHashes(bytes);
  }
}
