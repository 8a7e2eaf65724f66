import { resolve } from "node:path";
import { Cause, Effect, Exit, Layer, Logger, Schedule } from "effect";
import { projectCommand } from "../../../core/domain/project-command.ts";
import { webhookRecordsSqlite } from "../../../adapters/sqlite/webhook-records.ts";
import { type Webhook, webhookOf, webhookText } from "../../../core/use-cases/webhook/webhook.ts";
import type { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { WebhookRecords } from "../../../ports/webhook-records.ts";
import { EX_DATAERR, EX_NOINPUT, endWith } from "../../command-line/command-line.ts";
import type { Settings } from "../../config/settings.ts";
import { webhooksPath } from "../../lifecycle/started-instance.ts";

/** What an effect gives; ends the command with the message of its failure. */
export const done = async <A>(work: Effect.Effect<A, Error>): Promise<A> => {
  const exit = await Effect.runPromiseExit(Effect.provide(work, Logger.layer([])));
  if (Exit.isSuccess(exit)) return exit.value;
  const failure = exit.cause.reasons.find(Cause.isFailReason)?.error;
  if (failure === undefined) throw Cause.squash(exit.cause);
  return endWith(EX_NOINPUT, failure.message);
};

/** Where the service of these settings keeps its webhooks. */
const recordsOf = async ({ database, dataDir }: Settings): Promise<Layer.Layer<WebhookRecords>> => {
  if (database === null) return webhookRecordsSqlite(webhooksPath(resolve(dataDir)));
  const [{ postgresStore }, { webhookRecordsPostgres }] = await Promise.all([
    import("../../../adapters/postgres/postgres-store.ts"),
    import("../../../adapters/postgres/webhook-records.ts"),
  ]);
  return Layer.provide(webhookRecordsPostgres, postgresStore(database));
};

const TRY_AGAIN = { schedule: Schedule.spaced("100 millis"), times: 20 };

/** What the actions do with the webhooks that the service of these settings has. */
export const openWebhooks = async (settings: Settings) => {
  const records = await recordsOf(settings);
  const using = <A>(
    work: (service: WebhookRecords["Service"]) => Effect.Effect<A, StoreUnavailable>,
  ): Promise<A> =>
    done(
      WebhookRecords.use(work).pipe(
        // The service writes at the same time.
        Effect.retry({ ...TRY_AGAIN, while: ({ retryable }) => retryable }),
        Effect.provide(records),
      ),
    );
  const all = async (): Promise<ReadonlyArray<Webhook>> =>
    (await using((service) => service.all)).flatMap((record) => webhookOf(record) ?? []);
  return {
    all,
    add: (webhook: Webhook) =>
      using(({ replace }) => replace(webhook.id, null, webhookText(webhook))),
    at: async (id: string): Promise<Webhook> =>
      (await all()).find((webhook) => webhook.id === id) ??
      endWith(EX_DATAERR, `there is no webhook ${id}; see: ${projectCommand("cli webhook list")}`),
    /** Changes a webhook, null for its removal, as often as the service changes it at the same time. */
    change: (id: string, next: (webhook: Webhook) => Webhook | null): Promise<boolean> =>
      using(({ all: read, replace }) =>
        Effect.gen(function* () {
          for (;;) {
            const record = (yield* read).find((each) => each.id === id);
            const webhook = record === undefined ? null : webhookOf(record);
            if (record === undefined || webhook === null) return false;
            const changed = next(webhook);
            const text = changed === null ? null : webhookText(changed);
            if (yield* replace(id, record.text, text)) return true;
          }
        }),
      ),
  };
};

/** See `openWebhooks`. */
export type Webhooks = Awaited<ReturnType<typeof openWebhooks>>;
