import { Effect } from "effect";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { type IndexQuery, toFilter } from "./index-query.ts";
import { MalformedCursor } from "../request-errors.ts";

/** The most events per read. */
const MOST_AT_ONCE = 100;

/**
 * A reader of events. `next` returns the events indexed since the last call, oldest first, at most 100, and none when
 * there are no new ones. Each event that passes the filter comes once, in the order of positions.
 */
export type EventFollower = {
  readonly next: Effect.Effect<
    ReadonlyArray<IndexedEvent>,
    Effect.Error<EscrowIndex["Service"]["summary"]>,
    EscrowIndex
  >;
};

/**
 * Follows a filter's events after the position `after`, or from now on when null. Positions have no gaps and appear in
 * order, so all new events are above the last one read. Before a store's first sync is complete it returns none: until
 * then a power cut can give positions to other events. Fails with `InvalidAddress` for a bad filter. Fails with
 * `MalformedCursor` for a position that this store has not reached: it is another store's, and waiting for it would
 * skip events.
 */
export const followEvents = Effect.fn("followEvents")(function* (
  query: Omit<IndexQuery, "refundable">,
  after: bigint | null,
) {
  const filter = yield* toFilter(query, null);
  const { events: newest, checkpoint } = yield* EscrowIndex.use((index) => index.summary);
  const told = checkpoint === null ? 0n : BigInt(newest);
  if (after !== null && after > told) return yield* new MalformedCursor();
  let cursor = after ?? BigInt(newest);
  const follower: EventFollower = {
    next: Effect.gen(function* () {
      const index = yield* EscrowIndex;
      const { events: count, checkpoint: synced } = yield* index.summary;
      if (synced === null || BigInt(count) <= cursor) return [];
      const events = yield* index.eventsAfter(filter, MOST_AT_ONCE, cursor);
      const last = events.at(-1)?.position ?? cursor;
      // A short page means that everything up to the count has been read.
      cursor = events.length < MOST_AT_ONCE && BigInt(count) > last ? BigInt(count) : last;
      return events;
    }),
  };
  return follower;
});
