import { Clock, Effect } from "effect";
import { readReadiness } from "../../../core/use-cases/service/read-readiness.ts";
import { readStatus } from "../../../core/use-cases/service/read-status.ts";
import { Instance } from "../../../ports/instance.ts";
import { endpoint } from "../server/endpoint.ts";
import { ServiceStatus, statusExample, statusRecord } from "./status/status-contract.ts";
import { NotReady, ShuttingDown } from "../problems/http-failures.ts";
import {
  Health,
  healthExample,
  healthRecord,
  Readiness,
  readinessExample,
  readinessRecord,
} from "./health-contract.ts";
import { data } from "../openapi/envelopes.ts";

/** `GET /health` */
export const healthEndpoint = endpoint({
  method: "GET",
  path: "/health",
  operationId: "readHealth",
  tag: "Service",
  summary: "Heartbeat",
  description: "Does not ask the ledger or the store: 200 means that the process answers.",
  budget: null,
  answers: {
    200: {
      description: "The process answers.",
      content: {
        "application/json": {
          schema: Health,
          example: healthExample,
        },
      },
    },
  },
  problems: [],
}).handle(
  Effect.fnUntraced(function* () {
    const { version, startedAtMs } = yield* Instance;
    const uptimeMs = Math.max(0, (yield* Clock.currentTimeMillis) - startedAtMs);
    return { json: healthRecord(version, uptimeMs) };
  }),
);

/** `GET /ready`; `isDraining` tells whether the instance has begun to shut down. */
export const readyEndpoint = (isDraining: () => boolean) =>
  endpoint({
    method: "GET",
    path: "/ready",
    operationId: "readReadiness",
    tag: "Service",
    summary: "Whether to send traffic here",
    description:
      "For load balancers: 503 names what is not ready (store, ledger, a node of another ledger than the store's, programs that are not initialised for each other, are of another ledger or are not the pinned ones, an index before its first sync), or that the instance shuts down. A stale index is reported in the body of a 200, because it still answers.",
    budget: null,
    answers: {
      200: {
        description: "Store and ledger answer.",
        content: {
          "application/json": { schema: Readiness, example: readinessExample },
        },
      },
    },
    problems: ["not_ready", "shutting_down"],
  }).handle(
    Effect.fnUntraced(function* () {
      if (isDraining()) return yield* new ShuttingDown();
      const { missing, cure, stale } = yield* readReadiness();
      if (missing.length > 0) return yield* new NotReady({ missing, cure });
      return { json: readinessRecord(stale) };
    }),
  );

/** `GET /v1/status` */
export const statusEndpoint = endpoint({
  method: "GET",
  path: "/v1/status",
  operationId: "readStatus",
  tag: "Service",
  summary: "Protocol and deployment status",
  description:
    "Answers within a second even when the ledger hangs: what is not known is null, and the status is then `degraded`.",
  budget: "reads",
  answers: {
    200: {
      description: "The status.",
      content: {
        "application/json": {
          schema: data(ServiceStatus),
          example: () => ({ data: statusExample() }),
        },
      },
    },
  },
  problems: [],
}).handle(
  Effect.fnUntraced(function* () {
    const { version } = yield* Instance;
    return { json: { data: statusRecord(yield* readStatus(), version) } };
  }),
);
