import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { endpoint } from "../server/endpoint.ts";
import { gaugeIndex, gaugeLog } from "./index-metrics.ts";

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
    "Requests by route, and the index's progress. Labels are bounded: route templates, never paths or addresses.",
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
  Effect.map(Effect.all([gaugeIndex, gaugeLog]).pipe(Effect.andThen(format)), (text) => ({
    text,
    headers: { "content-type": `${MEDIA_TYPE}; version=0.0.4; charset=utf-8` },
  })),
);
