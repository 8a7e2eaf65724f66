import { Type } from "@sinclair/typebox";
import { Effect, Metric } from "effect";
import { leaseHeld } from "../../../core/use-cases/index/sync/replicated-index-sync.ts";
import { contradictoryAnswers } from "../../../core/use-cases/or-ask-another.ts";
import { relayOutcomes } from "../../../core/use-cases/relay/outcome/resolve-relays.ts";
import {
  type OperatorFacts,
  readOperatorFacts,
} from "../../../core/use-cases/service/operator-facts.ts";
import { pageReads } from "../../../ports/index/index-reader.ts";
import { type LedgerCallCount, LedgerCalls } from "../../../ports/ledger/ledger-calls.ts";
import { openStreams } from "../index/stream-events.ts";
import { endpoint } from "../server/endpoint.ts";
import { durations, requests } from "../server/http-metrics.ts";
import { FACT_GAUGES } from "./fact-gauges.ts";
import type { FactGauge } from "./gauge.ts";

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
const gaugeCalls = Effect.fnUntraced(function* ({ index: { mark }, activity }: OperatorFacts) {
  const calls = yield* countCalls(activity.callsElsewhere);
  const events = mark === null ? Number.NaN : Number(mark.count);
  const registry = yield* Metric.MetricRegistry;
  const first = firstScrapes.get(registry) ?? { calls, events };
  if (mark !== null) firstScrapes.set(registry, first);
  const grown = events - first.events;
  yield* Metric.update(callsPerEvent, grown > 0 ? (calls - first.calls) / grown : Number.NaN);
});

/** The time series of each gauge that a registry has been told of, by name and labels. */
const seriesOf = new WeakMap<object, Map<string, Metric.Gauge<number>>>();

/** Sets the gauges that say how the service stands, for a scrape. One that the facts no longer name becomes NaN. */
const gaugeFacts = Effect.fnUntraced(function* (facts: OperatorFacts) {
  const registry = yield* Metric.MetricRegistry;
  const series = seriesOf.get(registry) ?? new Map<string, Metric.Gauge<number>>();
  seriesOf.set(registry, series);
  const values = new Map<string, number>();
  for (const [name, { about, of }] of Object.entries<FactGauge>(FACT_GAUGES))
    for (const { labels, value } of of(facts)) {
      const key = JSON.stringify([name, labels]);
      if (!series.has(key))
        series.set(key, Metric.gauge(name, { description: about, attributes: labels }));
      values.set(key, Number(value ?? Number.NaN));
    }
  for (const [key, gauge] of series) yield* Metric.update(gauge, values.get(key) ?? Number.NaN);
  yield* Metric.update(contradictoryAnswers, facts.activity.contradictedAnswers);
});

/** The exposition format's version (prometheus.io, "Exposition formats"). */
const MEDIA_TYPE = "text/plain";

/** What the name of every metric begins with. */
export const METRICS_PREFIX = "settlement_evidence";

/** What a metric is, for its scrape, its documentation and its panel. */
export type MetricRow = {
  readonly type: "gauge" | "counter" | "histogram";
  readonly unit: string;
  readonly labels: ReadonlyArray<string>;
  readonly about: string;
};

const TYPES = { Gauge: "gauge", Counter: "counter", Histogram: "histogram" } as const;

/** The row of a metric that counts by itself. */
const counted = (
  { type, description = "" }: { readonly type: string; readonly description: string | undefined },
  unit: string,
  labels: ReadonlyArray<string> = [],
): MetricRow => ({
  type: TYPES[type as keyof typeof TYPES],
  unit,
  labels,
  about: description,
});

/** Every metric of the service, by its name without the prefix. */
export const METRICS = {
  http_requests_total: counted(requests, "requests", ["method", "route", "status"]),
  http_request_duration_seconds: counted(durations, "seconds", ["method", "route"]),
  event_streams_open: counted(openStreams, "clients"),
  ...FACT_GAUGES,
  index_lease_held: counted(leaseHeld, "0 or 1"),
  index_page_reads_total: counted(pageReads, "pages", ["from"]),
  ledger_calls_total: counted(ledgerCalls, "calls", ["method", "purpose"]),
  ledger_calls_per_event: counted(callsPerEvent, "calls"),
  ledger_contradictory_answers: counted(contradictoryAnswers, "answers", ["node", "method"]),
  relay_outcomes_total: counted(relayOutcomes, "transactions", ["outcome"]),
} satisfies Readonly<Record<string, MetricRow>>;

/** The name of a metric, without the prefix. */
export type MetricName = keyof typeof METRICS;

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
    yield* gaugeCalls(facts);
    yield* gaugeFacts(facts);
    return {
      text: yield* format,
      headers: { "content-type": `${MEDIA_TYPE}; version=0.0.4; charset=utf-8` },
    };
  }),
);
