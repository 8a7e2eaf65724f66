import { Clock, Deferred, Duration, Effect, Layer, Redacted, Schedule, type Scope } from "effect";
import { sha256Bun } from "../adapters/bun/sha256.ts";
import { createHttpApp } from "../adapters/http/server/http-app.ts";
import { type ListenFailed, serveHttp } from "../adapters/http/server/serve-http.ts";
import type { LocalLedgerDidNotStart } from "../adapters/local-ledger/ledger-process.ts";
import { ledgerSignalsWebSocket } from "../adapters/solana-rpc/transport/ledger-signals-web-socket.ts";
import { superviseLocalLedger } from "../adapters/local-ledger/supervisor.ts";
import { provideSha256 } from "../core/domain/sha256.ts";
import type { EvidenceKeyUnusable } from "../ports/evidence-signer.ts";
import { backgroundSync } from "./background-sync.ts";
import type { RpcUrls, Settings } from "./config/settings.ts";
import { claimDataDirectory, type DataDirectoryUnusable } from "./data-directory.ts";
import { type IndexRefused, programsOf, serviceLayer } from "./layers.ts";
import { logging } from "./logging.ts";

/** Why a service does not start. */
export type StartFailure =
  | DataDirectoryUnusable
  | EvidenceKeyUnusable
  | LocalLedgerDidNotStart
  | ListenFailed;

/** A service that answers. */
export type RunningService = {
  /** Scheme, host and port. */
  readonly url: string;
  readonly rpcUrl: string;
  /** The embedded ledger's process id; null while it is down, or where the ledger is remote. */
  readonly ledgerPid: Effect.Effect<number | null>;
  /** Never succeeds; fails when the service finds that it cannot go on. */
  readonly refused: Effect.Effect<never, IndexRefused>;
};

/** The ledger of a service that was killed ends by itself, but not at once. */
const TRY_AGAIN = { schedule: Schedule.spaced(Duration.millis(300)), times: 5 };

const findLedger = Effect.fnUntraced(function* ({ ledger }: Settings, dataDir: string) {
  if (ledger.kind === "remote") {
    const { rpcUrls, webSocketUrl } = ledger;
    return { rpcUrls, webSocketUrl, ledgerPid: Effect.succeed(null) };
  }
  const embedded = yield* Effect.retry(
    superviseLocalLedger({ dataDir, port: ledger.port, demo: ledger.demo }),
    TRY_AGAIN,
  );
  const rpcUrls: RpcUrls = [Redacted.make(new URL(embedded.rpcUrl))];
  const webSocketUrl = Redacted.make(new URL(embedded.webSocketUrl));
  return {
    rpcUrls,
    webSocketUrl,
    ledgerPid: Effect.map(embedded.process, (process) => process?.pid ?? null),
  };
});

/**
 * Starts everything, in an order in which nothing waits for what may take long: the claim on the data
 * directory, the embedded ledger, HTTP, and then the store and the index, as soon as the ledger answers.
 * Closing the scope stops all of it in the reverse order, so that requests are finished first and the
 * ledger and the directory are given up last.
 */
export const startService = (
  settings: Settings,
): Effect.Effect<RunningService, StartFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const startedAtMs = yield* Clock.currentTimeMillis;
    provideSha256(sha256Bun);
    const dataDir = yield* claimDataDirectory(settings.dataDir);
    const { rpcUrls, webSocketUrl, ledgerPid } = yield* findLedger(settings, dataDir);
    const indexRefused = yield* Deferred.make<never, IndexRefused>();
    const services = serviceLayer({ settings, dataDir, rpcUrls, startedAtMs }, indexRefused);
    const { logFormat, logLevel } = settings;
    const context = yield* Layer.build(Layer.provideMerge(services, logging(logFormat, logLevel)));
    const app = createHttpApp({
      context,
      trustedProxies: settings.trustedProxies,
      corsOrigins: settings.corsOrigins,
    });
    const { url } = yield* serveHttp(app, { hostname: settings.host, port: settings.port });
    yield* backgroundSync(settings.syncIntervalSeconds).pipe(
      Effect.provide(
        ledgerSignalsWebSocket({ url: webSocketUrl, addresses: programsOf(settings) }),
      ),
      Effect.provide(context),
      Effect.forkScoped,
    );
    const rpcUrl = Redacted.value(rpcUrls[0]).href;
    return { url, rpcUrl, ledgerPid, refused: Deferred.await(indexRefused) };
  }).pipe(Effect.provide(logging(settings.logFormat, settings.logLevel)));
