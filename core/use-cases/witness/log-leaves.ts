import { Data, Effect } from "effect";
import { decodeEntryBundle } from "../../log/tiles/entry-bundle.ts";
import { TILE_WIDTH } from "../../log/tiles/tile-path.ts";
import type { LogSource, LogUnavailable } from "../../../ports/log/log-source.ts";

/** The log serves no bundle with the entry of this index. */
export class EntriesMissing extends Data.TaggedError("EntriesMissing")<{
  readonly index: number;
}> {}

/** What the log serves as entries are none. `detail` completes a sentence. */
export class EntriesFalse extends Data.TaggedError("EntriesFalse")<{
  readonly detail: string;
}> {}

/** How reading a log's leaves fails. */
export type LeavesFailure = LogUnavailable | EntriesMissing | EntriesFalse;

/** Bundles that are fetched at once: enough to fill the wait for a distant log, and 256 KiB at most. */
const AT_ONCE = 8;

type Bundle = { readonly index: number; readonly width: number };

/** The bundles that hold the entries `from` to `to`, the first few of them. */
const bundlesOf = (from: number, to: number): ReadonlyArray<Bundle> => {
  const first = Math.floor(from / TILE_WIDTH);
  const end = Math.min(first + AT_ONCE, Math.ceil(to / TILE_WIDTH));
  return Array.from({ length: end - first }, (_, i) => ({
    index: first + i,
    width: Math.min(TILE_WIDTH, to - (first + i) * TILE_WIDTH),
  }));
};

/** A log and where its entries are read from. */
export type ReadableLog = { readonly source: LogSource["Service"]; readonly url: URL };

const fetchBundle = Effect.fnUntraced(function* ({ source, url }: ReadableLog, bundle: Bundle) {
  const { index } = bundle;
  let { width } = bundle;
  let bytes = yield* source.entries(url, index, width);
  // A log may drop a partial bundle once the full one exists (C2SP tlog-tiles, "Partial Tiles").
  if (bytes === null && width < TILE_WIDTH) {
    width = TILE_WIDTH;
    bytes = yield* source.entries(url, index, width);
  }
  if (bytes === null) return yield* new EntriesMissing({ index: index * TILE_WIDTH });
  const entries = decodeEntryBundle(bytes, width);
  if ("fault" in entries) return yield* new EntriesFalse({ detail: entries.fault });
  return entries.value.slice(0, bundle.width);
});

/**
 * Gives `take` the leaves `from` to `to` of a log in order, the last one not included. `take` says what is wrong with a
 * leaf, or undefined. Interrupted, it has taken a whole number of leaves.
 */
export const forEachLeaf = Effect.fnUntraced(function* (
  log: ReadableLog,
  from: number,
  to: number,
  take: (leaf: Uint8Array, index: number) => string | undefined,
): Effect.fn.Return<void, LeavesFailure> {
  let at = from;
  while (at < to) {
    const bundles = yield* Effect.forEach(bundlesOf(at, to), (bundle) => fetchBundle(log, bundle), {
      concurrency: AT_ONCE,
    });
    let skipped = at % TILE_WIDTH;
    for (const bundle of bundles) {
      for (const leaf of bundle.slice(skipped)) {
        const detail = take(leaf, at);
        if (detail !== undefined) return yield* new EntriesFalse({ detail });
        at += 1;
      }
      skipped = 0;
    }
  }
});
