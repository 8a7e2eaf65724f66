import { Effect, type Scope } from "effect";
import { deserialize } from "node:v8";
import { ListenFailed } from "../../adapters/http/server/serve-http.ts";
import {
  FACTS_TYPE,
  joinedOperatorPage,
  operatorEndpoint,
} from "../../adapters/http/operator/operator-screen.ts";
import { METRICS_PATH } from "../../adapters/http/service/metrics.ts";
import { fetchDirectly } from "../../client/service/fetch-directly.ts";
import type { OperatorFacts } from "../../core/use-cases/service/operator-facts.ts";
import { MetricsListenFailed } from "../lifecycle/shutdown.ts";

/** Where each worker that listens now serves its metrics, by its number. */
export type MetricsOfWorkers = ReadonlyMap<number, { readonly metricsUrl: string | null }>;

/** How long a worker may take to answer a scrape. */
const ANSWER_WITHIN_MS = 5000;

/** A sample with the label of its worker before its others. */
const labelled = (sample: string, worker: number): string => {
  const end = sample.search(/[{ ]/);
  const labels = `{worker="${worker}"`;
  return sample[end] === "{"
    ? `${sample.slice(0, end)}${labels},${sample.slice(end + 1)}`
    : `${sample.slice(0, end)}${labels}}${sample.slice(end)}`;
};

/**
 * The metrics of several processes in Prometheus's text format, by the number of each, as one text: a family's samples
 * stand together, as the format asks, and each has the label `worker`. A counter never jumps between two processes.
 */
export const joinedMetrics = (texts: ReadonlyMap<number, string>): string => {
  const families = new Map<string, Array<string>>();
  for (const [worker, text] of texts)
    for (const family of text.split(/^(?=# HELP )/m)) {
      const lines = family.split("\n").filter((line) => line !== "");
      const comments = lines.filter((line) => line.startsWith("#"));
      const name = comments[0]?.split(" ", 3)[2] ?? "";
      const samples = lines.filter((line) => !line.startsWith("#"));
      const joined = families.get(name) ?? comments;
      families.set(name, [...joined, ...samples.map((sample) => labelled(sample, worker))]);
    }
  return [...families.values()]
    .flat()
    .map((line) => `${line}\n`)
    .join("");
};

const ask = (base: string, path: string, answerMs: number, accept = "*/*"): Promise<Response> =>
  fetchDirectly(`${base}${path}`, {
    // The answer is passed on with its headers, and what was compressed arrives here as it was before.
    headers: { accept, "accept-encoding": "identity" },
    signal: AbortSignal.timeout(answerMs),
  });

/**
 * A worker's samples: none of one that has just ended, and null of one that lives and does not answer. Nobody else
 * notices that one, whose share of the connections hangs.
 */
const samplesOf = async (url: string, path: string, answerMs: number): Promise<string | null> => {
  try {
    const response = await ask(url, path, answerMs);
    return response.ok ? await response.text() : "";
  } catch (cause) {
    return cause instanceof Error && cause.name === "TimeoutError" ? null : "";
  }
};

const addresses = (workers: MetricsOfWorkers): ReadonlyArray<readonly [number, string]> =>
  [...workers]
    .flatMap(([worker, { metricsUrl }]) =>
      metricsUrl === null ? [] : [[worker, metricsUrl] as const],
    )
    .toSorted(([one], [other]) => one - other);

/** The numbers of those that do not listen: one that starts, or that cannot serve. */
const missing = (workers: MetricsOfWorkers, count: number): ReadonlyArray<number> =>
  Array.from({ length: count }, (_, at) => at + 1).filter(
    (worker) => (workers.get(worker)?.metricsUrl ?? null) === null,
  );

/** What a worker tells its operator; null of one that does not answer. */
const factsOf = async (url: string, answerMs: number): Promise<OperatorFacts | null> => {
  try {
    const response = await ask(url, operatorEndpoint.path, answerMs, FACTS_TYPE);
    return response.ok ? (deserialize(await response.bytes()) as OperatorFacts) : null;
  } catch {
    return null;
  }
};

/** The operator's page of all workers. */
const operatorPage = async (
  at: ReturnType<typeof addresses>,
  silent: ReadonlyArray<number>,
  answerMs: number,
): Promise<Response> => {
  const answers = await Promise.all(
    at.map(async ([worker, url]) => ({ worker, facts: await factsOf(url, answerMs) })),
  );
  const [first, ...others] = answers.flatMap(({ facts }) => facts ?? []);
  if (first === undefined) return new Response("No worker answers.\n", { status: 502 });
  const unanswered = answers.flatMap(({ worker, facts }) => (facts === null ? worker : []));
  const lost = [...silent, ...unanswered].toSorted((a, b) => a - b);
  return joinedOperatorPage(first, others, lost);
};

const answer = async (
  workers: MetricsOfWorkers,
  count: number,
  { pathname, search }: URL,
  answerMs: number,
): Promise<Response> => {
  const path = `${pathname}${search}`;
  const at = addresses(workers);
  const lost = missing(workers, count);
  if (at.length === 0) return new Response("No worker listens.\n", { status: 503 });
  if (pathname === operatorEndpoint.path) return operatorPage(at, lost, answerMs);
  if (pathname !== METRICS_PATH) {
    for (const [, url] of at) {
      const response = await ask(url, path, answerMs).catch(() => null);
      if (response !== null) return response;
    }
    return new Response("No worker answers.\n", { status: 502 });
  }
  if (lost.length > 0) return new Response(`Worker ${lost[0]} does not listen.\n`, { status: 503 });
  const texts = new Map<number, string>();
  for (const [worker, text] of await Promise.all(
    at.map(async ([each, url]) => [each, await samplesOf(url, path, answerMs)] as const),
  )) {
    if (text === null) return new Response(`Worker ${worker} does not answer.\n`, { status: 503 });
    texts.set(worker, text);
  }
  return new Response(joinedMetrics(texts), {
    headers: { "content-type": "text/plain; version=0.0.4" },
  });
};

/**
 * Serves the metrics of all `count` workers at one address until the scope closes, and returns it, and the operator's page
 * with the warnings of all. Every other path is the first worker's that answers. One that does not listen, or does not
 * answer within `answerMs`, fails the scrape, which is how Prometheus hears of it.
 */
export const serveWorkerMetrics = (
  workers: MetricsOfWorkers,
  count: number,
  place: { readonly hostname: string; readonly port: number },
  answerMs: number = ANSWER_WITHIN_MS,
): Effect.Effect<string, MetricsListenFailed, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () =>
        Bun.serve({
          ...place,
          reusePort: false,
          development: false,
          fetch: (request) => answer(workers, count, new URL(request.url), answerMs),
          error: () => new Response("The worker does not answer.\n", { status: 502 }),
        }),
      catch: (error) => {
        const reason = error instanceof Error && "code" in error ? String(error.code) : "unknown";
        return new MetricsListenFailed({ cause: new ListenFailed({ ...place, reason }) });
      },
    }),
    (server) => Effect.promise(() => server.stop(true)),
  ).pipe(Effect.map((server) => server.url.origin));
