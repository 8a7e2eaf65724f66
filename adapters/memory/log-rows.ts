import { Effect } from "effect";
import type { LogStore } from "../../ports/log/log-store.ts";
import { leavesOfRows } from "./index-changes.ts";
import type { IndexRows } from "./index-rows.ts";

/** The log's store beside the rows of an index in memory. */
export const logStoreOf = (rows: IndexRows): LogStore["Service"] => {
  const tiles = new Map<string, Uint8Array>();
  let standing: string | null = null;
  return {
    leaves: (from, limit) =>
      Effect.sync(() =>
        leavesOfRows(rows)
          .filter(({ seq }) => seq >= from)
          .slice(0, limit)
          .map(({ leaf }) => leaf),
      ),
    isWriter: Effect.succeed(true),
    tile: (path) => Effect.sync(() => tiles.get(path) ?? null),
    keepTiles: (full) =>
      Effect.sync(() => {
        for (const { path, bytes } of full) tiles.set(path, bytes);
      }),
    standing: Effect.sync(() => standing),
    replaceStanding: (before, next) =>
      Effect.sync(() => {
        if (before !== standing) return false;
        standing = next;
        return true;
      }),
  };
};
