import {
  Clock,
  type Context,
  Data,
  Deferred,
  Duration,
  Effect,
  Layer,
  Redacted,
  Schedule,
  type Scope,
} from "effect";
import { sha256Bun } from "../adapters/bun/sha256.ts";
import type { HttpServices } from "../adapters/http/server/http-services.ts";
import { createHttpApp } from "../adapters/http/server/http-app.ts";
import { type ListenFailed, serveHttp } from "../adapters/http/server/serve-http.ts";
import type { LocalLedgerDidNotStart } from "../adapters/local-ledger/ledger-process.ts";
import { superviseLocalLedger } from "../adapters/local-ledger/supervisor.ts";
import { provideSha256 } from "../core/domain/sha256.ts";
import { LogPublisher } from "../core/use-cases/log/log-publisher.ts";
import type { LogKeyUnusable } from "../ports/log/log-signer.ts";
import { answerMcpClients } from "./answer-mcp.ts";
import type { LogWitnessesUnusable } from "./log/log-services.ts";
import type { EvidenceKeyUnusable } from "../ports/evidence-signer.ts";
import type { WitnessUnusable } from "../ports/log/witness-key.ts";
import type { RpcUrls, Settings } from "./config/settings.ts";
import { claimDataDirectory, type DataDirectoryUnusable } from "./stores/data-directory.ts";
import type { IndexRefused } from "./stores/index-refused.ts";
import { serviceLayer } from "./layers.ts";
import { logging } from "./lifecycle/logging.ts";
import type { StartedInstance } from "./lifecycle/started-instance.ts";
import { syncsHere } from "./stores/storage.ts";
import type { Environment } from "./sync-worker/start-sync-worker.ts";
import { runSyncingSide } from "./syncing/syncing-side.ts";

/** The port for the metrics could not be taken. */
export class MetricsListenFailed extends Data.TaggedError("MetricsListenFailed")<{
  readonly cause: ListenFailed;
}> {}

/** Why a service does not start. */
export type StartFailure =
  | DataDirectoryUnusable
  | EvidenceKeyUnusable
  | LogKeyUnusable
  | LogWitnessesUnusable
  | WitnessUnusable
  | LocalLedgerDidNotStart
  | ListenFailed
  | MetricsListenFailed;

/** A running service. */
export type RunningService = {
  /** Scheme, host and port. */
  readonly url: string;
  /** Scheme, host and port of the metrics listener; null without one. */
  readonly metricsUrl: string | null;
  readonly rpcUrl: string;
  /** The process id of the embedded ledger; null while it is down, and for a remote ledger. */
  readonly ledgerPid: Effect.Effect<number | null>;
  /** Never succeeds. Fails when the service cannot continue. */
  readonly refused: Effect.Effect<never, IndexRefused>;
};

/** The ledger of a killed service takes a moment to end. */
const TRY_AGAIN = { schedule: Schedule.spaced(Duration.millis(300)), times: 5 };

const findLedger = Effect.fnUntraced(function* ({ ledger }: Settings, dataDir: string) {
  if (ledger.kind === "remote") {
    const { rpcUrls, webSocketUrl } = ledger;
    return { rpcUrls, webSocketUrl, ledgerPid: Effect.succeed(null) };
  }
  const embedded = yield* Effect.retry(superviseLocalLedger({ dataDir, ...ledger }), TRY_AGAIN);
  const rpcUrls: RpcUrls = [Redacted.make(new URL(embedded.rpcUrl))];
  const webSocketUrl = Redacted.make(new URL(embedded.webSocketUrl));
  return {
    rpcUrls,
    webSocketUrl,
    ledgerPid: Effect.map(embedded.process, (process) => process?.pid ?? null),
  };
});

/** Starts a listener for the metrics alone when one is configured, and returns its address. */
const serveMetrics = Effect.fnUntraced(function* (
  { host, metricsPort, trustedProxies }: Settings,
  context: Context.Context<HttpServices>,
) {
  if (metricsPort === null) return null;
  const app = createHttpApp({ context, trustedProxies, corsOrigins: [], serves: "metrics" });
  const { url } = yield* serveHttp(app, { hostname: host, port: metricsPort }).pipe(
    Effect.mapError((cause) => new MetricsListenFailed({ cause })),
  );
  return url;
});

/**
 * Starts everything in this order: the claim on the data directory, the embedded ledger, HTTP,
 * and then store and index as soon as the ledger answers. Closing the scope stops all in reverse order, so that
 * requests finish first and ledger and directory are released last. With `workerEnvironment`, which the settings were
 * read from, what SQLite stores hold is written by a worker; without, by this thread.
 */
export const startService = (
  settings: Settings,
  workerEnvironment: Environment | null = null,
): Effect.Effect<RunningService, StartFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const startedAtMs = yield* Clock.currentTimeMillis;
    provideSha256(sha256Bun);
    const dataDir = yield* claimDataDirectory(settings.dataDir);
    const { rpcUrls, webSocketUrl, ledgerPid } = yield* findLedger(settings, dataDir);
    const indexRefused = yield* Deferred.make<never, IndexRefused>();
    const started: StartedInstance = { settings, dataDir, rpcUrls, webSocketUrl, startedAtMs };
    const services = serviceLayer(started, indexRefused, workerEnvironment);
    const { logFormat, logLevel } = settings;
    const context = yield* Layer.build(Layer.provideMerge(services, logging(logFormat, logLevel)));
    const app = createHttpApp({
      context,
      trustedProxies: settings.trustedProxies,
      corsOrigins: settings.corsOrigins,
      publicUrl: settings.publicUrl,
      mcp: answerMcpClients,
      serves: settings.metricsPort === null ? "all" : "all_but_metrics",
    });
    const metricsUrl = yield* serveMetrics(settings, context);
    const { url } = yield* serveHttp(app, { hostname: settings.host, port: settings.port });
    yield* LogPublisher.use(({ run }) => run).pipe(
      Effect.catchCause((cause) => Deferred.failCause(indexRefused, cause)),
      Effect.provide(context),
      Effect.forkScoped,
    );
    if (syncsHere(started, workerEnvironment))
      yield* runSyncingSide(started, indexRefused).pipe(Effect.provide(context), Effect.forkScoped);
    const rpcUrl = Redacted.value(rpcUrls[0]).href;
    return { url, metricsUrl, rpcUrl, ledgerPid, refused: Deferred.await(indexRefused) };
  }).pipe(Effect.provide(logging(settings.logFormat, settings.logLevel)));
