import { Effect } from "effect";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import type { StoreUnavailable } from "../../../ports/index/store-unavailable.ts";
import { IndexGrowth } from "./index-growth.ts";
import { type IndexQuery, toFilter } from "./index-query.ts";

/** The most events per read. */
const MOST_AT_ONCE = 100;

/**
 * A reader of events. `next` returns the events indexed since the last call, oldest first, at most 100, and none when
 * there are no new ones. Each event that passes the filter comes once, in the order of positions.
 */
export type EventFollower = {
  readonly next: Effect.Effect<
    ReadonlyArray<IndexedEvent>,
    Effect.Error<IndexReader["Service"]["summary"]>,
    IndexReader
  >;
  /** Completes once `next` may have events again, after it had none. Fails like the store. */
  readonly grown: Effect.Effect<void, StoreUnavailable, IndexGrowth>;
};

/**
 * Follows a filter's events after the position `after`, or from now on when null. The index holds every event up to its
 * mark, so all new ones are above the last that was read. It may stand below `after` while a store is filled anew; the
 * follower then waits. Fails with `InvalidAddress` for a bad filter.
 */
export const followEvents = Effect.fn("followEvents")(function* (
  query: Omit<IndexQuery, "refundable">,
  after: bigint | null,
) {
  const filter = yield* toFilter(query, null);
  const { mark } = yield* IndexReader.use(({ summary }) => summary);
  let cursor = after ?? mark?.count ?? 0n;
  const follower: EventFollower = {
    next: Effect.gen(function* () {
      const index = yield* IndexReader;
      const { mark: synced } = yield* index.summary;
      if (synced === null || synced.count <= cursor) return [];
      const events = yield* index.events(filter, MOST_AT_ONCE, { after: cursor });
      const last = events.at(-1)?.position ?? cursor;
      // A short page means that everything up to the count has been read.
      cursor = events.length < MOST_AT_ONCE && synced.count > last ? synced.count : last;
      return events;
    }),
    grown: Effect.suspend(() => IndexGrowth.use(({ beyond }) => beyond(cursor))),
  };
  return follower;
});
