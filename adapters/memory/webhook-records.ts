import { Effect, Layer } from "effect";
import { WebhookRecords } from "../../ports/webhook-records.ts";

/** Webhooks in this process's memory, for tests. `records` holds their texts by id. */
export const webhookRecordsMemory = (
  records: Map<string, string> = new Map(),
): Layer.Layer<WebhookRecords> =>
  Layer.succeed(WebhookRecords, {
    all: Effect.sync(() =>
      Array.from(records, ([id, text]) => ({ id, text })).sort((a, b) => (a.id < b.id ? -1 : 1)),
    ),
    replace: (id, before, next) =>
      Effect.sync(() => {
        if ((records.get(id) ?? null) !== before) return false;
        if (next === null) records.delete(id);
        else records.set(id, next);
        return true;
      }),
  });
