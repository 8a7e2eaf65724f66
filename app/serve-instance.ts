import { type Context, Deferred, Duration, Effect, Layer, Schedule, type Scope } from "effect";
import { createHttpApp } from "../adapters/http/server/http-app.ts";
import type { HttpServices } from "../adapters/http/server/http-services.ts";
import { type ListenFailed, serveHttp } from "../adapters/http/server/serve-http.ts";
import { LogPublisher } from "../core/use-cases/log/log-publisher.ts";
import { LogStreaming } from "../core/use-cases/log/log-streaming.ts";
import { WebhookDelivery } from "../core/use-cases/webhook/webhook-delivery.ts";
import { readLogStatus } from "../core/use-cases/service/log-status.ts";
import type { EvidenceKeyUnusable } from "../ports/evidence-signer.ts";
import type { LogKeyUnusable } from "../ports/log/log-signer.ts";
import type { WitnessUnusable } from "../ports/log/witness-state.ts";
import { answerMcpClients } from "./answer-mcp.ts";
import type { Settings } from "./config/settings.ts";
import { serviceLayer } from "./layers.ts";
import { observing } from "./lifecycle/logging.ts";
import { MetricsListenFailed } from "./lifecycle/shutdown.ts";
import type { StartedInstance } from "./lifecycle/started-instance.ts";
import type { LogWitnessesUnusable } from "./log/log-services.ts";
import type { IndexRefused } from "./stores/index-refused.ts";
import type { SyncThread } from "./sync-worker/sync-thread.ts";

/** Why an instance cannot be served on a ledger that is there. */
export type ServeFailure =
  | EvidenceKeyUnusable
  | LogKeyUnusable
  | LogWitnessesUnusable
  | WitnessUnusable
  | ListenFailed
  | MetricsListenFailed;

/** An instance that listens. */
export type ServedInstance = {
  /** Scheme, host and port. */
  readonly url: string;
  /** Scheme, host and port of the metrics listener; null without one. */
  readonly metricsUrl: string | null;
  /** Completes once the first sync has reached the log; never without a log's key. */
  readonly logReached: Effect.Effect<void>;
  /** Asks the log's witnesses at once, as when their policy changes. */
  readonly offerAgain: Effect.Effect<void>;
  /** The log's verifier keys at this moment, in one text; null while they cannot be read. */
  readonly logKeys: Effect.Effect<string | null>;
  /** Never succeeds. Fails when the service cannot continue. */
  readonly refused: Effect.Effect<never, IndexRefused>;
};

/**
 * Starts a listener for the metrics alone when one is configured, and returns its address. Of several workers each has
 * its own, which the process that runs them asks.
 */
const serveMetrics = Effect.fnUntraced(function* (
  { host, metricsPort, trustedProxies, workers }: Settings,
  context: Context.Context<HttpServices>,
) {
  if (metricsPort === null) return null;
  const app = createHttpApp({ context, trustedProxies, corsOrigins: [], serves: "metrics" });
  const place =
    workers > 1 ? { hostname: "127.0.0.1", port: 0 } : { hostname: host, port: metricsPort };
  const { url } = yield* serveHttp(app, place).pipe(
    Effect.mapError((cause) => new MetricsListenFailed({ cause })),
  );
  return url;
});

const LOOK_AGAIN = Schedule.spaced(Duration.millis(50));

/** Completes once a process's publisher has begun to publish. */
const publishes = ({ status }: LogPublisher["Service"]): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.repeat(status, {
      schedule: LOOK_AGAIN,
      until: ({ state }) => state === "publishing" || state === "ended",
    }),
  );

const offerAgain = ({ status, setPolicy }: LogPublisher["Service"]): Effect.Effect<void> =>
  Effect.flatMap(status, ({ policy }) => (policy === null ? Effect.void : setPolicy(policy)));

/**
 * Chooses and connects the adapters, listens, and opens store and index as soon as the ledger answers. Closing the
 * scope stops all in reverse order. What SQLite stores hold is written by the worker of `thread`; without, by this
 * thread.
 */
export const serveInstance = (
  started: StartedInstance,
  thread: SyncThread | null,
): Effect.Effect<ServedInstance, ServeFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const { settings } = started;
    const indexRefused = yield* Deferred.make<never, IndexRefused>();
    const services = serviceLayer(started, indexRefused, thread);
    const context = yield* Layer.build(Layer.provideMerge(services, observing(settings)));
    const isShared = settings.workers > 1;
    const app = createHttpApp({
      context,
      trustedProxies: settings.trustedProxies,
      corsOrigins: settings.corsOrigins,
      publicUrl: settings.publicUrl,
      mcp: answerMcpClients,
      // Counters of whichever worker answers would jump from scrape to scrape.
      serves: settings.metricsPort === null && !isShared ? "all" : "all_but_metrics",
    });
    const metricsUrl = yield* serveMetrics(settings, context);
    const { host: hostname, port } = settings;
    const { url } = yield* serveHttp(app, { hostname, port, isShared });
    yield* LogPublisher.use(({ run }) => run).pipe(
      Effect.catchCause((cause) => Deferred.failCause(indexRefused, cause)),
      Effect.provide(context),
      Effect.forkScoped,
    );
    yield* WebhookDelivery.use(({ run }) => run).pipe(Effect.provide(context), Effect.forkScoped);
    yield* Effect.flatMap(LogStreaming, ({ run }) => run).pipe(
      Effect.provide(context),
      Effect.forkScoped,
    );
    if (thread === null) {
      const { runSyncingSide } = yield* Effect.promise(() => import("./syncing/syncing-side.ts"));
      const syncing = runSyncingSide(started, indexRefused);
      yield* syncing.pipe(Effect.provide(context), Effect.forkScoped);
    }
    const logReached = Effect.provide(LogPublisher.use(publishes), context);
    const again = Effect.provide(LogPublisher.use(offerAgain), context);
    const logKeys = readLogStatus.pipe(
      Effect.map((log) => `${log?.vkey ?? ""} ${log?.nextVkey ?? ""}`),
      Effect.orElseSucceed(() => null),
      Effect.provide(context),
    );
    return {
      url,
      metricsUrl,
      logReached,
      offerAgain: again,
      logKeys,
      refused: Deferred.await(indexRefused),
    };
  });
