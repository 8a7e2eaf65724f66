import { Effect } from "effect";
import { hash32ToBytes } from "../../../domain/hash32.ts";
import { decodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import { tileSource } from "../../../log/tiles/tile-hashes.ts";
import { tilePath } from "../../../log/tiles/tile-path.ts";
import { partialTiles } from "../../../log/tiles/tile-plan.ts";
import { hashOfRange } from "../../../log/tree/subtree.ts";
import { HASH_LENGTH, isSameHash, leafHash } from "../../../log/tree/tree-hash.ts";
import { StoreUnavailable } from "../../../../ports/index/store-unavailable.ts";
import type { SignedHead } from "../log-standing.ts";
import { type LogTree, readTile } from "../read-tree.ts";

/** The partial tiles and the partial bundle of a signed size, by their paths. */
export type SignedEdge = ReadonlyMap<string, Uint8Array>;

/**
 * The partial tiles of a signed head, which together give its root, and the bundle whose entries they hash. Fails where the
 * store's leaves are other ones than those that were signed.
 */
export const readSignedEdge = Effect.fnUntraced(function* (
  tree: LogTree,
  { size, root }: SignedHead,
) {
  const edge = new Map<string, Uint8Array>();
  const partial = partialTiles(size);
  for (const tile of partial) edge.set(tilePath(tile), yield* readTile(tree, tile));
  const none = new Uint8Array();
  const source = tileSource(size, (tile) => edge.get(tilePath(tile)) ?? none);
  const bundle = partial.find(({ level }) => level === "entries");
  const entries =
    bundle === undefined
      ? { value: [] }
      : decodeEntryBundle(edge.get(tilePath(bundle)) ?? none, bundle.width);
  const hashes = edge.get(tilePath({ ...(bundle ?? { index: 0, width: 1 }), level: 0 })) ?? none;
  const areHashed =
    "value" in entries &&
    entries.value.every((leaf, at) =>
      isSameHash(leafHash(leaf), hashes.slice(at * HASH_LENGTH, (at + 1) * HASH_LENGTH)),
    );
  if (areHashed && isSameHash(hashOfRange({ from: 0, to: size }, source), hash32ToBytes(root)))
    return edge satisfies SignedEdge;
  const cause = `the store's leaves do not give the root that was signed at size ${size}`;
  return yield* new StoreUnavailable({ retryable: true, cause });
});
