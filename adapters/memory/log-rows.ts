import { isDeepStrictEqual } from "node:util";
import { Effect } from "effect";
import type { LogStore, SignedSize } from "../../ports/log-store.ts";
import { leavesOfRows } from "./index-changes.ts";
import type { IndexRows } from "./index-rows.ts";

/** The log's store beside the rows of an index in memory. */
export const logStoreOf = (rows: IndexRows): LogStore["Service"] => {
  const tiles = new Map<string, Uint8Array>();
  let signed: SignedSize | null = null;
  return {
    leaves: (from, limit) =>
      Effect.sync(() =>
        leavesOfRows(rows)
          .filter(({ seq }) => seq >= from)
          .slice(0, limit)
          .map(({ leaf }) => leaf),
      ),
    tile: (path) => Effect.sync(() => tiles.get(path) ?? null),
    keepTiles: (full) =>
      Effect.sync(() => {
        for (const { path, bytes } of full) if (!tiles.has(path)) tiles.set(path, bytes);
      }),
    signed: Effect.sync(() => signed),
    sign: (before, next) =>
      Effect.sync(() => {
        if (!isDeepStrictEqual(before, signed)) return false;
        signed = next;
        return true;
      }),
  };
};
