import { Context, Effect } from "effect";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { LogIdentity } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { hash32ToBytes } from "../../../domain/hash32.ts";
import { parseCheckpoint } from "../../../log/checkpoint/checkpoint.ts";
import { parseLogOrigin } from "../../../log/checkpoint/log-origin.ts";
import { decodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import {
  partialTiles,
  rootOfFullTile,
  type Tile,
  TILE_WIDTH,
  tilePath,
  tileSource,
  tileWidthIn,
} from "../../../log/tiles/tile-path.ts";
import { hashOfRange } from "../../../log/tree/subtree.ts";
import { HASH_LENGTH, isSameHash, leafHash } from "../../../log/tree/tree-hash.ts";
import {
  isSameHead,
  type LogStanding,
  parseLogStanding,
  type SignedHead,
} from "../log-standing.ts";
import { keptTile, type LogTree, readTile } from "../read-tree.ts";
import { RecentlyUsed } from "../../../domain/recently-used.ts";

/** The least number of tiles kept, twice as many at most: of 8 KB each, so 4 MB. */
const KEPT = 256;

/**
 * The tiles of hashes that were read last. A tile that has grown is made from where it was on: the one above a million
 * leaves would take thousands of hashes and a file for each. Whoever reads proves what it makes of them by the signed
 * root, and forgets all of them where that fails.
 */
class KnownTiles {
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

/** The partial tiles and the partial bundle of a signed size, by their paths. */
type SignedEdge = ReadonlyMap<string, Uint8Array>;

/**
 * The partial tiles of a signed head, which together give its root, and the bundle whose entries they hash. Fails where
 * the store's leaves are other ones than those that were signed.
 */
const readSignedEdge = Effect.fnUntraced(function* (tree: LogTree, { size, root }: SignedHead) {
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

/** A log's tree at the size that was signed last, with the partial tiles that together have the signed root. */
type SignedTree = {
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
 * A tile of a signed size: the kept one of a full tile, or one made anew that leads to the signed root, tile by tile.
 * Fails where it does not: the store's leaves are other ones than those that were signed, or a kept tile above it is
 * damaged.
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

/** The log that this service publishes, as it stands. */
export type PublishedLog = {
  readonly standing: LogStanding;
  readonly tree: LogTree;
  /**
   * The published checkpoint, its size and its root (32 bytes); null before the first with the quorum's cosignatures.
   */
  readonly checkpoint: {
    readonly text: string;
    readonly size: number;
    readonly root: Uint8Array;
  } | null;
};

/** The log that this service, or another one on the same store, publishes. */
export class SettlementLog extends Context.Service<
  SettlementLog,
  {
    /** Null without a log key on this store so far. */
    readonly published: Effect.Effect<PublishedLog | null, StoreUnavailable, LogStore>;
    /**
     * The partial tiles of a log at the size that it signed last. Fails while the store's leaves do not give the signed
     * root.
     */
    readonly signedEdge: (
      log: PublishedLog,
    ) => Effect.Effect<SignedEdge, StoreUnavailable, LogStore>;
    /** What proofs are made of. */
    readonly tiles: KnownTiles;
  }
>()("settlement-evidence/core/use-cases/SettlementLog") {}

const checkpointOf = ({ published, signed }: LogStanding): PublishedLog["checkpoint"] => {
  if (published === null) return null;
  const parsed = parseCheckpoint(published);
  return "value" in parsed && parsed.value.checkpoint.origin === signed.origin
    ? { text: published, size: parsed.value.checkpoint.size, root: parsed.value.checkpoint.root }
    : null;
};

/** The process's one `SettlementLog`. */
export const makeSettlementLog = Effect.gen(function* () {
  const identity = yield* LogIdentity;
  // The edge is verified once for each signed head.
  let verified: { readonly head: SignedHead; readonly edge: SignedEdge } | null = null;
  // The standing is parsed once for each text: a checkpoint changes once a second at most.
  let parsed: { readonly text: string; readonly value: PublishedLog } | null = null;
  return SettlementLog.of({
    tiles: new KnownTiles(),
    signedEdge: Effect.fnUntraced(function* ({ tree, standing: { signed } }) {
      if (verified !== null && isSameHead(verified.head, signed)) return verified.edge;
      const edge = yield* readSignedEdge(tree, signed);
      verified = { head: signed, edge };
      return edge;
    }),
    published: Effect.gen(function* () {
      const store = yield* LogStore;
      const text = yield* store.standing;
      if (text === null) return null;
      if (parsed?.text === text) return parsed.value;
      const standing = parseLogStanding(text);
      const origin = standing && parseLogOrigin(standing.signed.origin);
      if (standing === undefined || origin === undefined || "fault" in origin) return null;
      const networkLeaf = yield* identity.networkLeaf;
      const tree = { networkLeaf, generation: origin.value.generation };
      const value = { standing, tree, checkpoint: checkpointOf(standing) };
      parsed = { text, value };
      return value;
    }),
  });
});
