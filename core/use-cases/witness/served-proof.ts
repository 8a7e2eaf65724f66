import { Data, Effect } from "effect";
import type { LogSource, LogUnavailable } from "../../../ports/log/log-source.ts";
import {
  type Tile,
  TILE_WIDTH,
  tilePath,
  tileSource,
  tilesOfRanges,
} from "../../log/tiles/tile-path.ts";
import { HASH_LENGTH } from "../../log/tree/tree-hash.ts";
import { consistencyPath, consistencyProof } from "../../log/tree/tree-proofs.ts";

/** The log does not serve a tile of this size, or not yet. */
export class TilesMissing extends Data.TaggedError("TilesMissing")<{ readonly size: number }> {}

/** What the log serves as a tile is none. `detail` completes a sentence. */
export class TilesFalse extends Data.TaggedError("TilesFalse")<{ readonly detail: string }> {}

/** Tiles that are fetched at once: nearly all that a proof takes, and 64 KiB at most. */
const AT_ONCE = 8;

const fetchTile = Effect.fnUntraced(function* (
  source: LogSource["Service"],
  url: URL,
  tile: Tile,
  size: number,
) {
  let { width } = tile;
  let bytes = yield* source.tile(url, tile);
  // A log may drop a partial tile once the full one exists (C2SP tlog-tiles, "Partial Tiles").
  if (bytes === null && width < TILE_WIDTH) {
    width = TILE_WIDTH;
    bytes = yield* source.tile(url, { ...tile, width });
  }
  if (bytes === null) return yield* new TilesMissing({ size });
  if (bytes.length !== width * HASH_LENGTH)
    return yield* new TilesFalse({ detail: `${tilePath(tile)} has ${bytes.length} bytes` });
  return bytes.slice(0, tile.width * HASH_LENGTH);
});

/**
 * The consistency proof from an older size to a size of a log, out of the tiles that it serves. It proves nothing
 * unless it verifies.
 */
export const servedProof = Effect.fnUntraced(function* (
  { source, url }: { readonly source: LogSource["Service"]; readonly url: URL },
  oldSize: number,
  size: number,
): Effect.fn.Return<ReadonlyArray<Uint8Array>, LogUnavailable | TilesMissing | TilesFalse> {
  const wanted = tilesOfRanges(consistencyPath(oldSize, size), size);
  const bytes = yield* Effect.forEach(wanted, (tile) => fetchTile(source, url, tile, size), {
    concurrency: AT_ONCE,
  });
  const tiles = new Map(wanted.map((tile, at) => [tilePath(tile), bytes[at]]));
  const read = (tile: Tile) => tiles.get(tilePath(tile)) ?? new Uint8Array();
  return consistencyProof(oldSize, size, tileSource(size, read));
});
