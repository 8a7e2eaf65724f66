import { Context, type Effect } from "effect";
import type { Hash32 } from "../core/domain/hash32.ts";
import type { StoreUnavailable } from "./store-unavailable.ts";

/** A full tile of the log by its path, such as `tile/0/x001/234` or `tile/entries/000` (docs/log.md, "Tiles"). */
export type FullTile = { readonly path: string; readonly bytes: Uint8Array };

/** What the log's key has signed last. */
export type SignedSize = {
  readonly origin: string;
  /** Leaves of the tree, at least 1. */
  readonly size: bigint;
  readonly root: Hash32;
};

/** The settlement log's leaves, its full tiles, and what was signed. */
export class LogStore extends Context.Service<
  LogStore,
  {
    /** The leaves numbered from `from` (at least 1) on, at most `limit`, ascending and without a gap. */
    readonly leaves: (
      from: bigint,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Uint8Array>, StoreUnavailable>;
    /** A full tile, null for one that is not kept. */
    readonly tile: (path: string) => Effect.Effect<Uint8Array | null, StoreUnavailable>;
    /** Keeps full tiles durably. One that is kept already is not written again. */
    readonly keepTiles: (tiles: ReadonlyArray<FullTile>) => Effect.Effect<void, StoreUnavailable>;
    /** What was signed last, null before the first. */
    readonly signed: Effect.Effect<SignedSize | null, StoreUnavailable>;
    /** Replaces `before` durably; false, with nothing changed, when something else was signed meanwhile. */
    readonly sign: (
      before: SignedSize | null,
      next: SignedSize,
    ) => Effect.Effect<boolean, StoreUnavailable>;
  }
>()("settlement-evidence/ports/LogStore") {}
