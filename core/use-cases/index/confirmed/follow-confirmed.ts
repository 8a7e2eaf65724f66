import { Effect } from "effect";
import type { EventFilter } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import type { IndexedEvent } from "../../../domain/index/settlement-event.ts";
import { followEvents } from "../follow-events.ts";
import { type EventQuery, toEventFilter } from "../index-query.ts";
import { ConfirmedEvents } from "./confirmed-events.ts";
import type { ConfirmedChange, ConfirmedJournal } from "./confirmed-journal.ts";

/** Events per answer. */
const MOST_AT_ONCE = 100;

/** What became of an event: confirmed first, then final, or retracted by a fork. */
export type FollowedChange = {
  readonly finality: ConfirmedChange["finality"] | "final";
  readonly event: IndexedEvent;
};

const passes = (
  { event }: IndexedEvent,
  { merchant, agentOwner, state, escrow }: EventFilter,
): boolean =>
  (escrow === undefined || event.escrow === escrow) &&
  (merchant === undefined || event.merchant === merchant) &&
  (agentOwner === undefined || event.agentOwner === agentOwner) &&
  (state === undefined || event.state === state);

/**
 * Follows a filter's events as `followEvents` does, and tells of each one as soon as the ledger confirms it. Final
 * events come each once, in the order of their numbers. Before them come those that are confirmed and not final yet,
 * and what retracts them. `close` must be called in the end. Fails with `InvalidAddress` for a bad filter.
 */
export const followConfirmed = Effect.fn("followConfirmed")(function* (
  query: Omit<EventQuery, "refundable" | "expiringWithin">,
  after: bigint | null,
) {
  const filter = yield* toEventFilter(query, null);
  const final = yield* followEvents(query, after);
  const events = yield* ConfirmedEvents;
  let journal: ConfirmedJournal | null = null;
  let isClosed = false;
  let cursor = 0;
  let backlog: ReadonlyArray<FollowedChange> = [];

  const enter = Effect.gen(function* () {
    const joined = yield* events.join;
    journal = joined;
    if (isClosed) events.leave();
    cursor = joined.end;
    backlog = joined.pending
      .filter((event) => passes(event, filter))
      .map((event) => ({ finality: "confirmed", event }));
    return joined;
  });

  /** The next changes of the journal that the filter lets pass. Fails when they are not kept any more. */
  const changesIn = Effect.fnUntraced(function* (from: ConfirmedJournal, finalTo: bigint) {
    const changes = events.keeps(from) ? from.since(cursor, MOST_AT_ONCE) : null;
    if (changes === null)
      return yield* new StoreUnavailable({ retryable: true, cause: "the stream begins anew" });
    cursor += changes.length;
    return changes.filter(
      ({ finality, event }) =>
        passes(event, filter) && (finality === "retracted" || event.position > finalTo),
    );
  });

  const next = Effect.gen(function* () {
    const joined = journal ?? (yield* enter);
    if (backlog.length > 0) {
      const some = backlog.slice(0, MOST_AT_ONCE);
      backlog = backlog.slice(MOST_AT_ONCE);
      return some;
    }
    const before = final.position();
    const earlier = yield* changesIn(joined, before);
    if (earlier.length > 0) return earlier;
    const settled = yield* final.next;
    yield* events.finalTo(joined, final.position());
    const changes: Array<FollowedChange> = [];
    // What a final event replaces is retracted before it comes.
    for (;;) {
      const more: ReadonlyArray<FollowedChange> = yield* changesIn(joined, before);
      changes.push(...more);
      if (cursor >= joined.end) break;
    }
    return [...changes, ...settled.map((event) => ({ finality: "final" as const, event }))];
  });

  return {
    next,
    /** Completes once `next` may have something again. Fails like the store. */
    grown: Effect.suspend(() =>
      journal === null
        ? Effect.void
        : Effect.raceFirst(final.grown, events.beyond(journal, cursor)),
    ),
    /** Ends the following. */
    close: (): void => {
      if (isClosed) return;
      isClosed = true;
      if (journal !== null) events.leave();
    },
  };
});
