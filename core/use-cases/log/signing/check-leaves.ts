import { Effect } from "effect";
import { type Hash32, hash32FromBytes } from "../../../domain/hash32.ts";
import { firstHead, headAfter } from "../../../log/leaf/event-chain.ts";
import { decodeEntryBundle, encodeEntryBundle } from "../../../log/tiles/entry-bundle.ts";
import { TileBuilder } from "../../../log/tiles/tile-builder.ts";
import { TILE_WIDTH } from "../../../log/tiles/tile-path.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import type { SignedHead } from "../log-standing.ts";
import { keptPath, type LogTree, readLeaves } from "../read-tree.ts";

/** What the store's leaves themselves say, without any kept tile. */
export type LeavesVerdict = {
  /** The first head, smallest first, that the leaves do not give. */
  readonly contradicted: SignedHead | null;
  /** The first index at which the leaves differ from a kept bundle; null where none differs. */
  readonly firstDifference: number | null;
  /** The chain over all leaves. */
  readonly chain: Hash32;
};

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

/** The first place at which leaves differ from the kept bundle that begins at their first index; null without one. */
const differenceFromKept = Effect.fnUntraced(function* (
  tree: LogTree,
  from: number,
  leaves: ReadonlyArray<Uint8Array>,
) {
  const store = yield* LogStore;
  const tile = { level: "entries", index: from / TILE_WIDTH, width: TILE_WIDTH } as const;
  const kept = yield* store.tile(keptPath(tree, tile));
  if (kept === null || isEqual(kept, encodeEntryBundle(leaves))) return null;
  const entries = decodeEntryBundle(kept, TILE_WIDTH);
  if ("fault" in entries) return null;
  const at = leaves.findIndex((leaf, i) => !isEqual(leaf, entries.value[i] ?? new Uint8Array()));
  return from + at;
});

/**
 * Compares the store's first `size` leaves with heads that were signed, and calls `each` for every leaf. `heads` ascend and are
 * not larger.
 */
export const checkLeaves = Effect.fnUntraced(function* (
  tree: LogTree,
  size: number,
  heads: ReadonlyArray<SignedHead>,
  each: (index: number, leaf: Uint8Array) => void,
) {
  const waiting = [...heads];
  const tiles = new TileBuilder(() => {});
  let chain = firstHead();
  let contradicted: SignedHead | null = null;
  let firstDifference: number | null = null;
  for (let from = 0; from < size; from += TILE_WIDTH) {
    const leaves = yield* readLeaves(tree, from, Math.min(TILE_WIDTH, size - from));
    for (const [at, leaf] of leaves.entries()) {
      tiles.append(leaf);
      each(from + at, leaf);
      if (from + at > 0) chain = headAfter(chain, leaf);
      while (waiting[0]?.size === tiles.size) {
        const [head] = waiting.splice(0, 1);
        if (head !== undefined && head.root !== hash32FromBytes(tiles.head().root))
          contradicted ??= head;
      }
    }
    if (leaves.length === TILE_WIDTH)
      firstDifference ??= yield* differenceFromKept(tree, from, leaves);
  }
  const verdict: LeavesVerdict = { contradicted, firstDifference, chain: hash32FromBytes(chain) };
  return verdict;
});
