import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import { PostgresStore } from "../../../adapters/postgres/postgres-store.ts";
import { rowsOf } from "../../../adapters/postgres/queries.ts";
import { webhookRecordsPostgres } from "../../../adapters/postgres/webhook-records.ts";
import { WebhookRecords } from "../../../ports/webhook-records.ts";
import { webhookRecordsContract } from "../../contracts/webhook-records.ts";
import { freshSchema, storeAt } from "./test-database.ts";

webhookRecordsContract("webhookRecordsPostgres", () => {
  const url = freshSchema();
  return () => Layer.provide(webhookRecordsPostgres, storeAt(url));
});

test("a schema that was made before there were webhooks gets their table", async () => {
  const url = freshSchema();
  const onStore = <A, E>(work: Effect.Effect<A, E, PostgresStore>) =>
    Effect.runPromise(Effect.provide(work, storeAt(url)));
  await onStore(
    PostgresStore.use(({ runReady }) => runReady((sql) => rowsOf(sql, "DROP TABLE webhook"))),
  );
  const records = await onStore(
    Effect.provide(
      WebhookRecords.use(({ all }) => all),
      webhookRecordsPostgres,
    ),
  );
  expect(records).toEqual([]);
});
