import { Effect } from "effect";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import { EscrowIndex } from "../../../ports/escrow-index.ts";
import { type IndexQuery, toFilter } from "./index-query.ts";
import { MalformedCursor } from "../request-errors.ts";

/** The most events that are handed on at once. */
const MOST_AT_ONCE = 100;

/**
 * Where a reader of events stands. `next` gives the events that were indexed since, oldest first, at most
 * 100 of them, none when there are none yet; each event of the filter once, in the order of positions.
 */
export type EventFollower = {
  readonly next: Effect.Effect<
    ReadonlyArray<IndexedEvent>,
    Effect.Error<EscrowIndex["Service"]["summary"]>,
    EscrowIndex
  >;
};

/**
 * Follows the events of a filter behind the position `after`, or from now on when null. Positions have no
 * holes and appear in order, so what is above the last one read is all that is new. Fails with
 * `InvalidAddress` for a bad filter, and with `MalformedCursor` for a position that this store has
 * not reached: it is another store's, and waiting for it would pass over events. Before a store's first sync is
 * complete nothing is told: until then a power cut may give positions to other events.
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
      // Fewer than asked for: everything up to the count has been looked at.
      cursor = events.length < MOST_AT_ONCE && BigInt(count) > last ? BigInt(count) : last;
      return events;
    }),
  };
  return follower;
});
