import { Clock, Context, Duration, Effect, FiberMap } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { SyncEpoch } from "../../../ports/index/sync-lease.ts";
import type { LogIdentity } from "../../../ports/log/log-signer.ts";
import { LogStore } from "../../../ports/log/log-store.ts";
import { type WebhookRecord, WebhookRecords } from "../../../ports/webhook-records.ts";
import type { WebhookSender } from "../../../ports/webhook-sender.ts";
import type { IndexGrowth } from "../index/follow-events.ts";
import { coverage, type IndexClock } from "../index/index-query.ts";
import { deliverWebhook, type WebhookBody, type WebhookCounts } from "./deliver-webhook.ts";
import { type Webhook, webhookOf, webhookText, withoutSpentSecrets } from "./webhook.ts";

/** Between two looks at what the operator has added, changed or removed. */
const LOOK_EVERY = Duration.seconds(2);

/** How one webhook stands in the process that delivers it. */
export type WebhookReport = {
  readonly id: string;
  /** Requests that the receiver took, and those that failed, since the start of the process. */
  readonly delivered: number;
  readonly failed: number;
  /** Events of the index that it has not been brought to; null where this process does not deliver it. */
  readonly behind: number | null;
  /** How long its receiver has failed, milliseconds, 0 while it does not; null where this process does not deliver it. */
  readonly failingMs: number | null;
  /** Whether its receiver is gone or was given up. */
  readonly isEnded: boolean;
};

/** How the webhooks stand that this process has delivered. Never fails. */
export const WebhookReports = Context.Reference<Effect.Effect<ReadonlyArray<WebhookReport>>>(
  "settlement-evidence/core/use-cases/WebhookReports",
  { defaultValue: () => Effect.succeed([]) },
);

/** Delivers the index's events to the operator's webhooks. */
export class WebhookDelivery extends Context.Service<
  WebhookDelivery,
  {
    /** Says that this process has completed a sync in the running fiber's term: it delivers while the term lasts. */
    readonly grown: Effect.Effect<void>;
    /** Delivers for as long as it runs; the process runs it once. */
    readonly run: Effect.Effect<never>;
    readonly reports: Effect.Effect<ReadonlyArray<WebhookReport>>;
  }
>()("settlement-evidence/core/use-cases/WebhookDelivery") {}

/** A webhook that a look has found in the store. */
type Found = { readonly record: WebhookRecord; readonly webhook: Webhook };

/**
 * The process's one `WebhookDelivery`: a fiber for each webhook, begun anew when the operator changes it. Of several
 * replicas the one whose term lasts delivers.
 */
export const makeWebhookDelivery = Effect.fnUntraced(function* (bodyOf: WebhookBody) {
  const services = yield* Effect.context<
    IndexClock | IndexGrowth | IndexReader | LogIdentity | LogStore | WebhookRecords | WebhookSender
  >();
  const { isWriter } = yield* LogStore;
  const { all, replace } = yield* WebhookRecords;
  const fibers = yield* FiberMap.make<string>();
  const editions = new Map<string, number>();
  const counted = new Map<string, WebhookCounts>();
  let ended: ReadonlySet<string> = new Set();
  let failingSinceMs: ReadonlyMap<string, number> = new Map();
  let unreadable: ReadonlySet<string> = new Set();
  let term: bigint | null = null;

  const isDelivering = Effect.suspend(() =>
    term === null
      ? Effect.succeed(false)
      : Effect.orElseSucceed(Effect.provideService(isWriter, SyncEpoch, term), () => false),
  );
  const countsOf = (id: string): WebhookCounts => {
    const counts = counted.get(id) ?? { delivered: 0, failed: 0, position: null };
    counted.set(id, counts);
    return counts;
  };

  const deliver = ({ record, webhook }: Found) => {
    const counts = countsOf(record.id);
    return deliverWebhook(record, webhook, { bodyOf, isDelivering, counts }).pipe(
      Effect.catchTags({
        Superseded: () => Effect.void,
        StoreUnavailable: ({ cause }) =>
          Effect.logDebug("a webhook waits for the store", { webhook: record.id, cause }),
      }),
      Effect.catchDefect((defect) =>
        Effect.logError("a webhook broke, and is tried again", defect),
      ),
      Effect.ensuring(
        Effect.sync(() => {
          counts.position = null;
        }),
      ),
    );
  };

  /** Reads what is stored. A record of another version is told once, and left alone. */
  const read = Effect.gen(function* () {
    const records = yield* all;
    const isUnreadable = new Set<string>();
    const found: Array<Found> = [];
    for (const record of records) {
      const webhook = webhookOf(record);
      if (webhook !== null) found.push({ record, webhook });
      else {
        isUnreadable.add(record.id);
        if (!unreadable.has(record.id))
          yield* Effect.logError("a webhook's record cannot be read, and is not delivered", {
            webhook: record.id,
          });
      }
    }
    unreadable = isUnreadable;
    return found;
  });

  /**
   * Strikes secrets out that sign nothing more, by the machine's clock and by the ledger's: the first can be set back.
   * The fiber that has read them ends, and a next look begins another, also where the record has changed meanwhile.
   */
  const dropSpentSecrets = Effect.fnUntraced(function* ({ record, webhook }: Found) {
    const nowMs = yield* Clock.currentTimeMillis;
    if (withoutSpentSecrets(webhook, nowMs) === webhook) return false;
    const ledgerMs = Number((yield* coverage).ledgerTime ?? 0n) * 1000;
    const kept = withoutSpentSecrets(webhook, Math.min(nowMs, ledgerMs));
    if (kept === webhook) return false;
    yield* FiberMap.remove(fibers, record.id);
    yield* replace(record.id, record.text, webhookText(kept));
    return true;
  });

  const look = Effect.gen(function* () {
    if (!(yield* isDelivering)) return yield* FiberMap.clear(fibers);
    const found = yield* read;
    ended = new Set(found.flatMap(({ webhook }) => (webhook.ended === null ? [] : [webhook.id])));
    failingSinceMs = new Map(
      found.map(({ webhook }) => [webhook.id, webhook.failingSinceMs ?? Infinity]),
    );
    const stored = new Set(found.map(({ webhook }) => webhook.id));
    for (const id of editions.keys())
      if (!stored.has(id)) {
        editions.delete(id);
        yield* FiberMap.remove(fibers, id);
      }
    for (const each of found) {
      const { id, edition, ended: end } = each.webhook;
      if (editions.get(id) !== edition) yield* FiberMap.remove(fibers, id);
      editions.set(id, edition);
      countsOf(id);
      if (yield* dropSpentSecrets(each)) continue;
      if (end === null && !(yield* FiberMap.has(fibers, id)))
        yield* FiberMap.run(fibers, id, deliver(each));
    }
  });

  const reports = Effect.gen(function* () {
    const { mark } = yield* IndexReader.use(({ summary }) => summary);
    const nowMs = yield* Clock.currentTimeMillis;
    return Array.from(counted, ([id, { delivered, failed, position }]): WebhookReport => {
      const behind = position === null ? null : Math.max(0, Number((mark?.count ?? 0n) - position));
      const sinceMs = failingSinceMs.get(id) ?? Infinity;
      const failingMs = position === null ? null : Math.max(0, nowMs - sinceMs);
      return { id, delivered, failed, behind, failingMs, isEnded: ended.has(id) };
    });
  }).pipe(Effect.orElseSucceed((): ReadonlyArray<WebhookReport> => []));

  return WebhookDelivery.of({
    grown: Effect.flatMap(SyncEpoch, (epoch) =>
      Effect.sync(() => {
        term = epoch;
      }),
    ),
    run: look.pipe(
      Effect.catch(({ cause }) => Effect.logDebug("the webhooks cannot be read now", { cause })),
      Effect.andThen(Effect.sleep(LOOK_EVERY)),
      Effect.forever,
      Effect.provide(services),
    ),
    reports: Effect.provide(reports, services),
  });
});
