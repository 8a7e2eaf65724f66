import { Effect, Layer } from "effect";
import { IndexNews } from "../../ports/index/index-news.ts";
import { PostgresStore } from "./postgres-store.ts";
import { rowsOf } from "./queries.ts";
import { notificationChannel, storeNotifications } from "./store-notifications.ts";

/** How often a reader looks by itself, milliseconds: while the database tells, and where it refuses LISTEN. */
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
