import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import { Effect } from "effect";
import { takePort } from "../../adapters/http/server/serve-http.ts";
import { METRICS_PATH, METRICS_PREFIX } from "../../adapters/http/service/metrics.ts";
import { MetricsListenFailed } from "../lifecycle/shutdown.ts";
import { Problem } from "./finding.ts";
import { SERVICE_NAME } from "../../adapters/http/openapi/openapi-document.ts";

/** Longer than the process that runs several workers waits for one of them (app/workers/worker-metrics.ts). */
const ANSWER_MS = 6000;

/** What that process answers to a scrape while not all of its workers serve. */
const WORKER_LOST = /^(?:Worker \d+ does not|No worker) \w+\.$/;

/** What a listener answers at a path, undefined where it answers nothing in time. */
const textAt = (hostname: string, port: number, path: string): Effect.Effect<string | undefined> =>
  Effect.promise(async (signal) => {
    try {
      const host = hostname.includes(":") ? `[${hostname}]` : hostname;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
      return await (await fetchDirectly(`http://${host}:${port}${path}`, { signal: limit })).text();
    } catch {
      return undefined;
    }
  });

const isOwnHealth = (text: string): boolean => {
  try {
    return (JSON.parse(text) as { readonly service?: unknown } | null)?.service === SERVICE_NAME;
  } catch {
    return false;
  }
};

/** For each variable, the path and the answer that identify a listener as this service. */
const OWN_ANSWERS = {
  PORT: { path: "/health", isOwn: isOwnHealth },
  METRICS_PORT: {
    path: METRICS_PATH,
    isOwn: (text: string) => text.includes(`${METRICS_PREFIX}_`),
  },
} as const;

/** Whether the service can listen at the port that a variable names, or listens there already. */
export const checkPort = Effect.fnUntraced(function* (
  variable: keyof typeof OWN_ANSWERS,
  host: string,
  port: number,
) {
  if (port === 0) return "any free one";
  const { path, isOwn } = OWN_ANSWERS[variable];
  const taken = yield* Effect.flip(takePort(host, port)).pipe(Effect.orElseSucceed(() => null));
  if (taken === null) return `${port} on ${host} is free`;
  const text = taken.reason === "EADDRINUSE" ? yield* textAt(host, port, path) : undefined;
  if (text !== undefined && variable === "METRICS_PORT" && WORKER_LOST.test(text.trim()))
    return yield* new Problem({
      message: `this service runs on ${port} of ${host} already. ${text.trim()} What to do is in docs/runbook.md, ServiceDown`,
    });
  if (text !== undefined && isOwn(text)) return `this service runs on ${port} of ${host} already`;
  return yield* variable === "PORT" ? taken : new MetricsListenFailed({ cause: taken });
});
