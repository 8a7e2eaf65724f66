import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { Effect, Layer } from "effect";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { type WebhookRecord, WebhookRecords } from "../../ports/webhook-records.ts";
import { openStore, refuseDamaged, type StoreKind } from "./open-store.ts";
import { storeCall, tryStore } from "./store-failure.ts";

/** What makes a file the webhooks of this service: ASCII `SEwh` as PRAGMA application_id. */
const WEBHOOKS_KIND: StoreKind = {
  applicationId: 0x53_45_77_68,
  schema: "CREATE TABLE webhook (id TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT",
};

/** Only the service's user may read the file, and those that SQLite makes beside it with its mode. */
const OWN_FILE = 0o600;

const open = Effect.fnUntraced(function* (path: string) {
  yield* tryStore(() => {
    mkdirSync(dirname(path), { recursive: true });
    closeSync(openSync(path, "a", OWN_FILE));
    chmodSync(path, OWN_FILE);
  }).pipe(refuseDamaged(path));
  const db = yield* openStore(path, WEBHOOKS_KIND);
  const select = db.query<WebhookRecord, []>("SELECT id, text FROM webhook ORDER BY id");
  const textOf = db.query<{ text: string }, [string]>("SELECT text FROM webhook WHERE id = ?1");
  const put = db.query<null, [string, string]>(
    "INSERT OR REPLACE INTO webhook (id, text) VALUES (?1, ?2)",
  );
  const remove = db.query<null, [string]>("DELETE FROM webhook WHERE id = ?1");
  const replace = db.transaction((id: string, before: string | null, next: string | null) => {
    if ((textOf.get(id)?.text ?? null) !== before) return false;
    if (next === null) remove.run(id);
    else put.run(id, next);
    return true;
  });
  return WebhookRecords.of({
    all: tryStore(() => select.all()),
    replace: storeCall(
      "WebhookRecords.replace",
      (id: string, before: string | null, next: string | null) =>
        replace.immediate(id, before, next),
    ),
  });
});

/**
 * Webhooks in a SQLite file of their own, made where there is none, which the service and its commands open at the same
 * time. A file that cannot be opened fails each use, and the service goes on without webhooks.
 */
export const webhookRecordsSqlite = (path: string): Layer.Layer<WebhookRecords> =>
  Layer.effect(
    WebhookRecords,
    open(path).pipe(
      Effect.catch((cause) => {
        const failure = new StoreUnavailable({ retryable: false, cause, store: path });
        return Effect.as(
          Effect.logError("webhooks cannot be read, and nothing is delivered to them", {
            cause: cause.message,
          }),
          { all: Effect.fail(failure), replace: () => Effect.fail(failure) },
        );
      }),
    ),
  );
