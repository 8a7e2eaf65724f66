import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { endpoint } from "../server/endpoint.ts";
import { gaugeIndex, gaugeLog } from "./index-metrics.ts";

/** The exposition format's version (prometheus.io, "Exposition formats"). */
const MEDIA_TYPE = "text/plain";

/** Loaded at the first scrape: the module brings Effect's own HTTP server along. */
const format = Effect.flatMap(
  Effect.promise(() => import("effect/observability")),
  ({ PrometheusMetrics }) => PrometheusMetrics.format({ prefix: "settlement_evidence" }),
);

/** Where the metrics are, on whichever listener. */
export const METRICS_PATH = "/metrics";

/** `GET /metrics` */
export const metricsEndpoint = endpoint({
  method: "GET",
  path: METRICS_PATH,
  operationId: "readMetrics",
  tag: "Service",
  summary: "Metrics in Prometheus text format",
  description:
    "Requests by route, and how far the index has got. Labels are bounded: route templates, never paths or addresses.",
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
