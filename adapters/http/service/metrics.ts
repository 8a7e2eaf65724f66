import { Type } from "@sinclair/typebox";
import { Effect, Metric } from "effect";
import type { SyncError } from "../../../core/use-cases/index/sync/sync-failure.ts";
import type { SyncMark } from "../../../core/domain/index/sync-report.ts";
import { contradictoryAnswers } from "../../../core/use-cases/or-ask-another.ts";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../core/use-cases/service/operator-facts.ts";
import { WebhookReports } from "../../../core/use-cases/webhook/webhook-delivery.ts";
import { type LedgerCallCount, LedgerCalls } from "../../../ports/ledger/ledger-calls.ts";
import { gaugeOperator } from "../operator/operator-gauges.ts";
import { endpoint } from "../server/endpoint.ts";
import { syncErrorCode } from "./status/index-status-contract.ts";

const syncedSlot = Metric.gauge("index_synced_slot", {
  description:
    "Slot at which the last completed sync read the ledger's count of events; NaN before the first sync or without the store.",
});
const syncedAt = Metric.gauge("index_synced_timestamp_seconds", {
  description:
    "When the last completed sync ended, unix seconds; NaN before the first sync or without the store.",
});
const lag = Metric.gauge("index_lag_slots", {
  description: "Finalized slots that the index is behind; NaN while the ledger does not answer.",
});

const snapshotAt = Metric.gauge("index_snapshot_timestamp_seconds", {
  description:
    "When the last snapshot was complete, unix seconds: the build of the index, or a scan of all merchants; NaN before or without the store.",
});

const snapshotFailures = Metric.gauge("index_snapshot_failures", {
  description: "Snapshots of this process that failed since its last completed one.",
});

const signalsLive = Metric.gauge("ledger_signals_live", {
  description:
    "1 while a node has taken the subscription to the ledger's signals, 0 while none has; NaN where this process listens to none.",
});

const signalFailures = Metric.gauge("ledger_signals_failures", {
  description:
    "Connections for the ledger's signals that were lost in a row, or that no node took; NaN where this process listens to none.",
});

const signalsSilent = Metric.gauge("ledger_signals_silent", {
  description:
    "1 while a node has taken the subscription to the ledger's signals and tells of nothing, not even of slots, or a sync has found events that it did not tell of; otherwise 0; NaN where this process listens to none.",
});

const syncFailed = Metric.gauge("index_sync_failed", {
  description:
    "1 for the problem code of the last sync of this process when it failed, 0 for the others: ledger_unavailable, ledger_timeout, slot_beyond_reach, store_unavailable, internal_error.",
});
/** Every error that can end a sync. */
const SYNC_ERRORS = [
  "LedgerUnavailable",
  "LedgerTimeout",
  "SlotBeyondReach",
  "StoreUnavailable",
  "InternalError",
] as const satisfies ReadonlyArray<SyncError>;

const historyContradicted = Metric.gauge("index_history_contradicted", {
  description:
    "1 while the ledger shows another history than the index, or an earlier state of it, and nobody has confirmed that; otherwise 0.",
});

const peerPackets = Metric.gauge("peer_packets_used", {
  description:
    "Packets of archived escrows that a peer showed and the ledger's digest confirmed, in this process.",
});
const peerIgnored = Metric.gauge("peer_answers_ignored", {
  description:
    "Answers of a peer about archived escrows that came too late, were no packet, or were not what the ledger keeps, in this process.",
});

const logSize = Metric.gauge("log_size", {
  description:
    "Leaves of the settlement log that were signed last; NaN without a log or the store.",
});
const logPublished = Metric.gauge("log_published_size", {
  description: "Leaves of the published checkpoint; NaN before the first.",
});
const logNonsense = Metric.gauge("log_witness_nonsense", {
  description: "Answers of a witness that were no answer of a witness, in this process.",
});

const webhookDelivered = Metric.gauge("webhook_delivered", {
  description: "Requests that the receiver of a webhook took, by webhook, in this process.",
});
const webhookFailed = Metric.gauge("webhook_failed", {
  description: "Requests to the receiver of a webhook that failed, by webhook, in this process.",
});
const webhookBehind = Metric.gauge("webhook_behind_events", {
  description:
    "Events of the index that a webhook has not been brought to; NaN where this process does not deliver it.",
});
const webhookEnded = Metric.gauge("webhook_disabled", {
  description:
    "1 for a webhook that is not delivered any more: its receiver answered 410 or failed for five days; otherwise 0.",
});

const indexEvents = Metric.gauge("index_events", {
  description:
    "Events that the index holds: two for an escrow that was settled. NaN before the first sync or without the store.",
});
const ledgerCalls = Metric.counter("ledger_calls_total", {
  description:
    "Calls of nodes by JSON-RPC method and purpose (sync, relay, status, witness, request), in this process. Failed and repeated ones count, and each request of a batch.",
  incremental: true,
});
const callsPerEvent = Metric.gauge("ledger_calls_per_event", {
  description:
    "All calls of nodes since the first scrape, divided by the events that the index has grown by since then: half of what an escrow costs. NaN before the first event.",
});

/** All calls and events at the first scrape of each registry. */
const firstScrapes = new WeakMap<object, { readonly calls: number; readonly events: number }>();

/** Adds up the calls of nodes, for a scrape. */
const countCalls = Effect.fnUntraced(function* (elsewhere: ReadonlyArray<LedgerCallCount>) {
  const own = yield* yield* LedgerCalls;
  const sums = new Map<string, LedgerCallCount>();
  for (const { method, purpose, calls } of [...own, ...elsewhere]) {
    const key = `${method} ${purpose}`;
    sums.set(key, { method, purpose, calls: (sums.get(key)?.calls ?? 0) + calls });
  }
  let all = 0;
  for (const { method, purpose, calls } of sums.values()) {
    const counter = Metric.withAttributes(ledgerCalls, { method, purpose });
    const { count } = yield* Metric.value(counter);
    yield* Metric.update(counter, Math.max(0, calls - count));
    all += calls;
  }
  return all;
});

/** Sets what the calls of nodes come to for each event, for a scrape. */
const gaugeCalls = Effect.fnUntraced(function* (
  mark: SyncMark | null,
  elsewhere: ReadonlyArray<LedgerCallCount>,
) {
  const calls = yield* countCalls(elsewhere);
  const events = mark === null ? Number.NaN : Number(mark.count);
  yield* Metric.update(indexEvents, events);
  const registry = yield* Metric.MetricRegistry;
  const first = firstScrapes.get(registry) ?? { calls, events };
  if (mark !== null) firstScrapes.set(registry, first);
  const grown = events - first.events;
  yield* Metric.update(callsPerEvent, grown > 0 ? (calls - first.calls) / grown : Number.NaN);
});

/** Sets how the settlement log stands, for a scrape. */
const gaugeLog = Effect.fnUntraced(function* ({ log }: OperatorFacts) {
  yield* Metric.update(logSize, log?.size ?? Number.NaN);
  yield* Metric.update(logPublished, log?.publishedSize ?? Number.NaN);
  for (const { name, nonsense } of log?.witnesses ?? [])
    yield* Metric.update(Metric.withAttributes(logNonsense, { witness: name }), nonsense);
});

/** Sets how the operator's webhooks stand, for a scrape. */
const gaugeWebhooks = Effect.gen(function* () {
  for (const { id, delivered, failed, behind, isEnded } of yield* yield* WebhookReports) {
    const of = (metric: Metric.Gauge<number>) => Metric.withAttributes(metric, { webhook: id });
    yield* Metric.update(of(webhookDelivered), delivered);
    yield* Metric.update(of(webhookFailed), failed);
    yield* Metric.update(of(webhookBehind), behind ?? Number.NaN);
    yield* Metric.update(of(webhookEnded), Number(isEnded));
  }
});

/** Sets how far the index has got, for a scrape. */
const gaugeIndex = Effect.fnUntraced(function* ({ index, activity }: OperatorFacts) {
  const { mark, lagSlots, snapshotAtMs } = index;
  yield* Metric.update(syncedSlot, mark === null ? Number.NaN : Number(mark.slot));
  yield* Metric.update(syncedAt, mark === null ? Number.NaN : mark.atMs / 1000);
  yield* Metric.update(snapshotAt, snapshotAtMs === null ? Number.NaN : snapshotAtMs / 1000);
  yield* Metric.update(lag, lagSlots === null ? Number.NaN : Number(lagSlots));
  for (const error of SYNC_ERRORS)
    yield* Metric.update(
      Metric.withAttributes(syncFailed, { code: String(syncErrorCode(error)) }),
      activity.lastError === error ? 1 : 0,
    );
  const { signals } = activity;
  yield* Metric.update(signalsLive, signals === null ? Number.NaN : Number(signals.isLive));
  yield* Metric.update(signalsSilent, signals === null ? Number.NaN : Number(signals.isSilent));
  yield* Metric.update(signalFailures, signals?.failures ?? Number.NaN);
  yield* gaugeCalls(mark, activity.callsElsewhere);
  yield* Metric.update(snapshotFailures, activity.snapshotFailures);
  yield* Metric.update(historyContradicted, activity.contradiction === null ? 0 : 1);
  yield* Metric.update(contradictoryAnswers, activity.contradictedAnswers);
  for (const [peer, { used, ignored }] of activity.peers) {
    yield* Metric.update(Metric.withAttributes(peerPackets, { peer }), used);
    yield* Metric.update(Metric.withAttributes(peerIgnored, { peer }), ignored);
  }
});

/** The exposition format's version (prometheus.io, "Exposition formats"). */
const MEDIA_TYPE = "text/plain";

/** What the name of every metric begins with. */
export const METRICS_PREFIX = "settlement_evidence";

/** Loaded at the first scrape: the module brings Effect's own HTTP server along. */
const format = Effect.flatMap(
  Effect.promise(() => import("effect/observability")),
  ({ PrometheusMetrics }) => PrometheusMetrics.format({ prefix: METRICS_PREFIX }),
);

/** The path of the metrics, on the service's listener or on their own. */
export const METRICS_PATH = "/metrics";

/** `GET /metrics` */
export const metricsEndpoint = endpoint({
  method: "GET",
  path: METRICS_PATH,
  operationId: "readMetrics",
  tag: "Service",
  summary: "Metrics in Prometheus text format",
  description:
    "Requests by route, calls of nodes by method, and the index's progress. Labels are bounded: route templates, never paths or addresses.",
  budget: null,
  answers: {
    200: {
      description: "The metrics.",
      content: {
        [MEDIA_TYPE]: {
          schema: Type.String(),
          example: () =>
            'settlement_evidence_http_requests_total{method="GET",route="/health",status="200"} 1\n',
        },
      },
    },
  },
  problems: [],
}).handle(() =>
  Effect.gen(function* () {
    const facts = yield* readOperatorFacts;
    yield* gaugeIndex(facts);
    yield* gaugeLog(facts);
    yield* gaugeOperator(facts);
    yield* gaugeWebhooks;
    return {
      text: yield* format,
      headers: { "content-type": `${MEDIA_TYPE}; version=0.0.4; charset=utf-8` },
    };
  }),
);
