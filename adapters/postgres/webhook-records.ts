import { Effect, Layer } from "effect";
import { type WebhookRecord, WebhookRecords } from "../../ports/webhook-records.ts";
import { PostgresStore, storeCall } from "./postgres-store.ts";
import { rowsOf } from "./queries.ts";

/** Webhooks in the database that replicas share. */
export const webhookRecordsPostgres: Layer.Layer<WebhookRecords, never, PostgresStore> =
  Layer.effect(
    WebhookRecords,
    Effect.map(PostgresStore, ({ runReady }) => ({
      all: runReady((sql) =>
        rowsOf<WebhookRecord>(sql, "SELECT id, text FROM webhook ORDER BY id"),
      ),
      replace: storeCall(
        runReady,
        "WebhookRecords.replace",
        async (sql, id: string, before: string | null, next: string | null) => {
          if (before === null && next === null)
            return (await rowsOf(sql, "SELECT id FROM webhook WHERE id = $1", [id])).length === 0;
          const changed = await (before === null
            ? rowsOf(
                sql,
                "INSERT INTO webhook (id, text) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING RETURNING id",
                [id, next],
              )
            : next === null
              ? rowsOf(sql, "DELETE FROM webhook WHERE id = $1 AND text = $2 RETURNING id", [
                  id,
                  before,
                ])
              : rowsOf(
                  sql,
                  "UPDATE webhook SET text = $3 WHERE id = $1 AND text = $2 RETURNING id",
                  [id, before, next],
                ));
          return changed.length > 0;
        },
      ),
    })),
  );
