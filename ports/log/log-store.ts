import { Context, type Effect } from "effect";
import type { StoreUnavailable } from "../index/store-refusal.ts";

/** A full tile of a log by its path below the store, such as `1/tile/0/x001/234` (docs/log.md, "Tiles"). */
export type FullTile = { readonly path: string; readonly bytes: Uint8Array };

/** The settlement log's leaves, its full tiles, and how the log stands. */
export class LogStore extends Context.Service<
  LogStore,
  {
    /** The leaves numbered from `from` (at least 1) on, at most `limit`, ascending and without a gap. */
    readonly leaves: (
      from: bigint,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Uint8Array>, StoreUnavailable>;
    /** Whether the running fiber's term (`SyncEpoch`) may still write. Always true where one process writes. */
    readonly isWriter: Effect.Effect<boolean, StoreUnavailable>;
    /** A full tile, null for one that is not kept. */
    readonly tile: (path: string) => Effect.Effect<Uint8Array | null, StoreUnavailable>;
    /** Keeps full tiles durably, in place of those of the same path. */
    readonly keepTiles: (tiles: ReadonlyArray<FullTile>) => Effect.Effect<void, StoreUnavailable>;
    /** What `replaceStanding` wrote last, null before. */
    readonly standing: Effect.Effect<string | null, StoreUnavailable>;
    /** Replaces the standing durably if it is `before`. Otherwise changes nothing and returns false. */
    readonly replaceStanding: (
      before: string | null,
      next: string,
    ) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("settlement-evidence/ports/LogStore") {}
