import { Deferred, Duration, Effect, Layer, Schedule } from "effect";
import { IndexNews } from "../../ports/index/index-news.ts";
import { PostgresStore } from "./postgres-store.ts";
import { rowsOf } from "./queries.ts";

const TRY_AGAIN = Schedule.spaced(Duration.seconds(1));

/** The channel (LISTEN, NOTIFY) on which the replicas of a schema tell each other of changes. */
export const notificationChannel = (schema: string): string => `${schema}_news`;

/**
 * `next` completes at the next notification after it was begun. Bun renews a lost subscription by
 * itself, but what was sent meanwhile is gone: a wake-up, never a queue. Where nobody can
 * listen (a pooler in transaction mode, and no direct address), it never completes, and `isListening` stays false.
 */
export const storeNotifications = Effect.gen(function* () {
  const store = yield* PostgresStore;
  let next = Deferred.makeUnsafe<void>();
  let isListening = false;
  // For a notification, and for a subscription that is made anew: either may come first.
  const wake = () => {
    isListening = true;
    const woken = next;
    next = Deferred.makeUnsafe<void>();
    Deferred.doneUnsafe(woken, Effect.void);
  };
  yield* store
    .listen(notificationChannel(store.schema), wake)
    .pipe(
      Effect.retry({ schedule: TRY_AGAIN, while: (failure) => failure.retryable }),
      Effect.andThen(Effect.never),
      Effect.scoped,
      Effect.ignore,
      Effect.forkScoped,
    );
  return { next: Effect.suspend(() => Deferred.await(next)), isListening: () => isListening };
});

/** How often a reader looks by itself, milliseconds: while the database tells, and where nobody listens. */
const LOOK_EVERY_MS = { told: 250, alone: 20 };

/** Hints among the replicas of a schema, by LISTEN and NOTIFY. */
export const indexNewsPostgres: Layer.Layer<IndexNews, never, PostgresStore> = Layer.effect(
  IndexNews,
  Effect.gen(function* () {
    const store = yield* PostgresStore;
    const { next, isListening } = yield* storeNotifications;
    const channel = notificationChannel(store.schema);
    return {
      next,
      tell: Effect.ignore(
        store.run((sql) => rowsOf(sql, "SELECT pg_notify($1, '')::text", [channel])),
      ),
      lookEveryMs: Effect.sync(() => (isListening() ? LOOK_EVERY_MS.told : LOOK_EVERY_MS.alone)),
    };
  }),
);
