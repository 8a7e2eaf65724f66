import { Effect } from "effect";
import { RecentlyUsed } from "../../../domain/recently-used.ts";
import { type Tile, TILE_WIDTH } from "../../../log/tiles/tile-path.ts";
import { HASH_LENGTH } from "../../../log/tree/tree-hash.ts";
import { type LogTree, readTile } from "../read-tree.ts";

/** The least number of tiles kept, twice as many at most: of 8 KB each, so 4 MB. */
const KEPT = 256;

/**
 * The tiles of hashes that were read last. A tile that has grown is made from where it was on: the one above a million
 * leaves would take thousands of hashes and a file for each. Whoever reads proves what it makes of them by the signed
 * root, and forgets all of them where that fails.
 */
export class KnownTiles {
  readonly #known = new RecentlyUsed<string, Uint8Array>(KEPT);

  /** The bytes of a tile of hashes, as `readTile` gives them. */
  readonly read = Effect.fnUntraced({ self: this }, function* (tree: LogTree, tile: Tile) {
    const { level, index, width } = tile;
    const place = `${tree.generation}/${level}/${index}`;
    const length = width * HASH_LENGTH;
    const known = this.#known.get(place);
    if (known !== undefined && known.length >= length) return known.subarray(0, length);
    // A full tile is read from its file.
    const begun = width < TILE_WIDTH ? known : undefined;
    const bytes = yield* readTile(tree, tile, begun);
    this.#known.set(place, bytes);
    return bytes;
  });

  /** Forgets all of them. */
  forget(): void {
    this.#known.clear();
  }
}
