import { Effect } from "effect";
import { decodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import { rootOfFullTile } from "../../../log/tiles/tile-hashes.ts";
import { type Tile, TILE_WIDTH, tilePath } from "../../../log/tiles/tile-path.ts";
import { tileWidthIn } from "../../../log/tiles/tile-plan.ts";
import { HASH_LENGTH, isSameHash, leafHash } from "../../../log/tree/tree-hash.ts";
import { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import type { LogStore } from "../../../../ports/log/log-store.ts";
import { keptTile, type LogTree, readTile } from "../read-tree.ts";
import type { SignedEdge } from "./signed-edge.ts";

/** A log's tree at the size that was signed last, with the partial tiles that together have the signed root. */
export type SignedTree = {
  readonly tree: LogTree;
  readonly size: number;
  readonly edge: Effect.Effect<SignedEdge, StoreUnavailable, LogStore>;
};

/** The tile in which a full tile's hashes, or a bundle's entries, are hashed again. */
const above = ({ level, index }: Tile, size: number): Tile => {
  const place =
    level === "entries"
      ? { level: 0, index }
      : { level: level + 1, index: Math.floor(index / TILE_WIDTH) };
  return { ...place, width: tileWidthIn(place, size) };
};

const hashAt = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.slice(at * HASH_LENGTH, (at + 1) * HASH_LENGTH);

/** Whether a full tile or bundle is what the tile above it hashes. */
const isHashedIn = ({ level, index }: Tile, bytes: Uint8Array, hashes: Uint8Array): boolean => {
  if (level !== "entries")
    return isSameHash(rootOfFullTile(bytes), hashAt(hashes, index % TILE_WIDTH));
  const entries = decodeEntryBundle(bytes, TILE_WIDTH);
  return (
    "value" in entries &&
    entries.value.every((leaf, at) => isSameHash(leafHash(leaf), hashAt(hashes, at)))
  );
};

/**
 * A tile of a signed size: the kept one of a full tile, or one made anew that leads to the signed root, tile by tile. Fails
 * where it does not: the store's leaves are other ones than those that were signed, or a kept tile above it is damaged.
 */
export const readSignedTile = Effect.fnUntraced(function* (
  signed: SignedTree,
  tile: Tile,
): Effect.fn.Return<Uint8Array | undefined, StoreUnavailable, LogStore> {
  if (tile.width < TILE_WIDTH) return (yield* signed.edge).get(tilePath(tile));
  const kept = yield* keptTile(signed.tree, tile);
  if (kept !== null) return kept;
  const made = yield* readTile(signed.tree, tile);
  const hashes = yield* readSignedTile(signed, above(tile, signed.size));
  if (hashes !== undefined && isHashedIn(tile, made, hashes)) return made;
  const cause = `${tilePath(tile)} is not kept, and the store's leaves give another one than was signed at size ${signed.size}`;
  yield* Effect.logError("a tile of the settlement log cannot be made anew", { cause });
  return yield* new StoreUnavailable({ retryable: true, cause });
});
