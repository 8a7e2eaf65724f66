import { Context, Deferred, Effect, Exit, Fiber } from "effect";
import { IndexNews } from "../../../ports/index/index-news.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import type { IndexedEvent } from "../../domain/index/settlement-event.ts";
import { type EventQuery, toEventFilter } from "./index-query.ts";

/** The least time between two looks at the store, milliseconds. */
const LEAST_PAUSE_MS = 10;
/** How many readers are woken in a second at most: each of them reads the store. */
const WOKEN_PER_SECOND = 2048;
/** Readers woken before others get a turn. */
const WOKEN_AT_ONCE = 32;

/** Tells readers that the index has grown. One look at the store serves all of them. */
export class IndexGrowth extends Context.Service<
  IndexGrowth,
  {
    /** Completes once the index is complete to more events than `count`. Fails like the store. */
    readonly beyond: (count: bigint) => Effect.Effect<void, StoreUnavailable>;
  }
>()("settlement-evidence/core/use-cases/IndexGrowth") {}

type Reader = {
  readonly count: bigint;
  readonly woken: Deferred.Deferred<void, StoreUnavailable>;
};

/** The process's one `IndexGrowth`. It looks at the store only while somebody waits. */
export const makeIndexGrowth = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const index = yield* IndexReader;
  const news = yield* IndexNews;
  const readers = new Set<Reader>();
  let isWatching = false;
  let joined = Deferred.makeUnsafe<void>();

  /** Wakes the readers whose count the index has passed, all of them when the store fails. Says how many. */
  const look = Effect.gen(function* () {
    const exit = yield* Effect.exit(index.summary);
    const count = Exit.isSuccess(exit) ? (exit.value.mark?.count ?? 0n) : null;
    const passed = [...readers].filter((reader) => count === null || reader.count < count);
    for (const [at, { woken }] of passed.entries()) {
      if (at % WOKEN_AT_ONCE === WOKEN_AT_ONCE - 1) yield* Effect.yieldNow;
      Deferred.doneUnsafe(woken, Exit.asVoid(exit));
    }
    return passed.length;
  });

  const watch = Effect.gen(function* () {
    while (readers.size > 0) {
      joined = Deferred.makeUnsafe<void>();
      const others = Effect.race(news.next, Deferred.await(joined));
      const wait = Effect.race(others, Effect.sleep(yield* news.lookEveryMs));
      // Listens before it looks, so that nothing is missed in between.
      const heard = yield* Effect.forkChild(wait, { startImmediately: true });
      const woken = yield* look;
      yield* Effect.sleep(Math.max(LEAST_PAUSE_MS, (woken * 1000) / WOKEN_PER_SECOND));
      yield* Fiber.join(heard);
    }
  }).pipe(
    Effect.ensuring(
      Effect.sync(() => {
        isWatching = false;
      }),
    ),
  );

  return IndexGrowth.of({
    beyond: (count) =>
      Effect.suspend(() => {
        const reader: Reader = { count, woken: Deferred.makeUnsafe() };
        readers.add(reader);
        // The index may have grown since this reader looked, and before it joined.
        Deferred.doneUnsafe(joined, Effect.void);
        const watched = isWatching ? Effect.void : Effect.forkIn(watch, scope);
        isWatching = true;
        return watched.pipe(
          Effect.andThen(Deferred.await(reader.woken)),
          Effect.ensuring(Effect.sync(() => void readers.delete(reader))),
        );
      }),
  });
});

/** The most events per read. */
const MOST_AT_ONCE = 100;

/**
 * A reader of events. `next` returns the events indexed since the last call, oldest first, at most 100, and none when
 * there are no new ones. Each event that passes the filter comes once, in the order of positions.
 */
type EventFollower = {
  readonly next: Effect.Effect<
    ReadonlyArray<IndexedEvent>,
    Effect.Error<IndexReader["Service"]["summary"]>,
    IndexReader
  >;
  /** Completes once `next` may have events again, after it had none. Fails like the store. */
  readonly grown: Effect.Effect<void, StoreUnavailable, IndexGrowth>;
  /** The number up to which `next` has returned every event. */
  readonly position: () => bigint;
};

/**
 * Follows a filter's events after the position `after`, or from now on when null. The index holds every event up to its
 * mark, so all new ones are above the last that was read. It may stand below `after` while a store is filled anew; the
 * follower then waits. Fails with `InvalidAddress` for a bad filter.
 */
export const followEvents = Effect.fn("followEvents")(function* (
  query: Omit<EventQuery, "refundable" | "expiringWithin">,
  after: bigint | null,
) {
  const filter = yield* toEventFilter(query, null);
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
    position: () => cursor,
  };
  return follower;
});
