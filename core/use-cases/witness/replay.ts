import { Data, Effect } from "effect";
import type { LogSource, LogUnavailable } from "../../../ports/log/log-source.ts";
import type { CosignedLog } from "../../../ports/log/witness-state.ts";
import { EVENT_LEAF_LENGTH } from "../../log/leaf/event-leaf.ts";
import { firstHead, headAfter } from "../../log/leaf/leaf-chain.ts";
import { decodeEntryBundle } from "../../log/tiles/entry-bundle.ts";
import { TILE_WIDTH } from "../../log/tiles/tile-path.ts";
import { TreeEdge } from "../../log/tree/tree-edge.ts";
import { isSameHash, leafHash } from "../../log/tree/tree-hash.ts";

/** The log serves no bundle with the entry of this index. */
class EntriesMissing extends Data.TaggedError("EntriesMissing")<{
  readonly index: number;
}> {}

/** What the log serves as entries are none. `detail` completes a sentence. */
class EntriesFalse extends Data.TaggedError("EntriesFalse")<{
  readonly detail: string;
}> {}

/** How reading a log's leaves fails. */
type LeavesFailure = LogUnavailable | EntriesMissing | EntriesFalse;

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
type ReadableLog = { readonly source: LogSource["Service"]; readonly url: URL };

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
const forEachLeaf = Effect.fnUntraced(function* (
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

const lengthFault = (leaf: Uint8Array, index: number): string | undefined =>
  leaf.length === EVENT_LEAF_LENGTH ? undefined : `entry ${index} has ${leaf.length} bytes`;

/** A log's tree and chain, made anew from the log's entries. */
export class Replay {
  readonly #edge: TreeEdge;
  #head: Uint8Array;

  /** Begins at what was cosigned last, or before leaf 0. @throws RangeError for an edge of another size. */
  constructor(cosigned: CosignedLog | null) {
    this.#edge = cosigned === null ? new TreeEdge() : new TreeEdge(cosigned.size, cosigned.edge);
    this.#head = cosigned?.head ?? firstHead();
  }

  /** The leaves that were replayed. */
  get size(): number {
    return this.#edge.size;
  }

  /** What to remember once a checkpoint of this size is cosigned. */
  state(): CosignedLog {
    return {
      size: this.#edge.size,
      root: this.#edge.root(),
      head: this.#head,
      edge: this.#edge.roots,
    };
  }

  /**
   * Replays the log's entries up to a size. Leaf 0 must be `networkLeaf`. Interrupted or failed, it can go on later: it
   * holds the leaves that came before.
   */
  goTo(
    log: ReadableLog,
    size: number,
    networkLeaf: Uint8Array,
  ): Effect.Effect<void, LeavesFailure> {
    return forEachLeaf(log, this.size, size, (leaf, index) => {
      if (index === 0) {
        if (!isSameHash(leaf, networkLeaf)) return "entry 0 names another network";
      } else {
        const fault = lengthFault(leaf, index);
        if (fault !== undefined) return fault;
        this.#head = headAfter(this.#head, leaf);
      }
      this.#edge.append(leafHash(leaf));
      return undefined;
    });
  }

  /** The chain over the events up to number `count`, from this size on. Changes nothing here. */
  headAt(log: ReadableLog, count: number): Effect.Effect<Uint8Array, LeavesFailure> {
    let head = this.#head;
    return forEachLeaf(log, this.size, count + 1, (leaf, index) => {
      const fault = lengthFault(leaf, index);
      if (fault === undefined) head = headAfter(head, leaf);
      return fault;
    }).pipe(Effect.map(() => head));
  }
}
