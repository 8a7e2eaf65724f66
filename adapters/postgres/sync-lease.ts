import { Effect, Layer } from "effect";
import { SyncLease, type SyncTerm } from "../../ports/index/sync-lease.ts";
import { PostgresStore } from "./postgres-store.ts";
import { rowsOf } from "./queries.ts";
import { notificationChannel, storeNotifications } from "./index-news.ts";
import { decodeOutcome, encodeOutcome } from "../../core/use-cases/index/sync/sync-failure.ts";

/** The cause of a failure that another replica met. */
const TOLD_BY = "told by the replica that synced";

/** How long a lease is good for unless it is renewed. With the renewal's second, a successor is there within 5 s. */
const TIME_TO_LIVE_MS = 3000;

const TERM = 'epoch, asked, answered, snapshot_asked AS "snapshotAsked"';

/**
 * The lease as one row of the database; its clock alone decides what has expired. A new term changes the
 * row's key, which a batch under way holds (see index-schema.ts); renewals and requests do not.
 */
export const syncLeasePostgres = (options: { readonly timeToLiveMs?: number } = {}) =>
  Layer.effect(
    SyncLease,
    Effect.gen(function* () {
      const { schema, runReady } = yield* PostgresStore;
      const { next: news } = yield* storeNotifications;
      const holder = crypto.randomUUID();
      const channel = notificationChannel(schema);
      const ttl = [options.timeToLiveMs ?? TIME_TO_LIVE_MS];
      const until = "clock_timestamp() + $1 * interval '1 millisecond'";

      return SyncLease.of({
        hold: runReady(async (sql) => {
          const [renewed] = await rowsOf<SyncTerm>(
            sql,
            `UPDATE sync_lease SET held_until = ${until}
             WHERE holder = $2 AND held_until > clock_timestamp() RETURNING ${TERM}`,
            [...ttl, holder],
          );
          if (renewed !== undefined) return renewed;
          const [taken] = await rowsOf<SyncTerm>(
            sql,
            `UPDATE sync_lease SET epoch = epoch + 1, holder = $2, held_until = ${until}
             WHERE held_until <= clock_timestamp() RETURNING ${TERM}`,
            [...ttl, holder],
          );
          return taken ?? null;
        }),
        release: runReady(async (sql) => {
          await rowsOf(
            sql,
            `WITH released AS (
               UPDATE sync_lease SET held_until = '-infinity' WHERE holder = $1 RETURNING epoch
             ) SELECT pg_notify($2, '') FROM released`,
            [holder, channel],
          );
        }),
        ask: (kind) =>
          runReady(async (sql) => {
            const [row] = await rowsOf<{ asked: bigint }>(
              sql,
              `WITH request AS (
                 UPDATE sync_lease SET asked = asked + 1,
                   snapshot_asked = CASE WHEN $2 THEN asked + 1 ELSE snapshot_asked END
                 RETURNING asked
               ) SELECT asked, pg_notify($1, '') FROM request`,
              [channel, kind === "snapshot"],
            );
            if (row === undefined) throw new Error("the schema has one lease");
            return row.asked;
          }),
        answer: (term, outcome) =>
          runReady(async (sql) => {
            await rowsOf(
              sql,
              `WITH told AS (
                 UPDATE sync_lease SET answered = $2, outcome = $3
                 WHERE epoch = $1 AND answered < $2 RETURNING epoch
               ) SELECT pg_notify($4, '') FROM told`,
              [term.epoch, term.asked, encodeOutcome(outcome), channel],
            );
          }),
        answerTo: (request) =>
          runReady(async (sql) => {
            const [row] = await rowsOf<{ outcome: string | null }>(
              sql,
              "SELECT outcome FROM sync_lease WHERE answered >= $1",
              [request],
            );
            return row?.outcome ? decodeOutcome(row.outcome, TOLD_BY) : null;
          }),
        news,
      });
    }),
  );
