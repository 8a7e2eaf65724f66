import { resolve } from "node:path";
import { Clock, Duration, Effect, Redacted, Schedule, type Scope } from "effect";
import { sha256Bun } from "../adapters/bun/sha256.ts";
import type { LocalLedgerDidNotStart } from "../adapters/local-ledger/ledger-process.ts";
import { superviseLocalLedger } from "../adapters/local-ledger/supervisor.ts";
import { provideSha256 } from "../core/domain/sha256.ts";
import type { RpcUrls, Settings } from "./config/settings.ts";
import { logging } from "./lifecycle/logging.ts";
import type { ServedInstance, ServeFailure } from "./serve-instance.ts";
import { claimDataDirectory, type DataDirectoryUnusable } from "./stores/data-directory.ts";
import { type Environment, spawnSyncThread } from "./sync-worker/sync-thread.ts";

/** Why a service does not start. */
export type StartFailure = DataDirectoryUnusable | LocalLedgerDidNotStart | ServeFailure;

/** A running service. */
export type RunningService = ServedInstance & {
  readonly rpcUrl: string;
  /** The process id of the embedded ledger; null while it is down, and for a remote ledger. */
  readonly ledgerPid: Effect.Effect<number | null>;
  /** The names of the log's witnesses that run beside it. */
  readonly ownWitnesses: ReadonlyArray<string>;
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

/** The witnesses of the log that run beside the service; they load with what serves. */
const ownWitnesses = Effect.fnUntraced(function* (settings: Settings, dataDir: string) {
  if (settings.ledger.kind === "remote") return { names: [], run: () => Effect.void };
  const { prepareOwnWitnesses, runOwnWitnesses } = yield* Effect.promise(
    () => import("./log/own-witnesses.ts"),
  );
  const own = yield* prepareOwnWitnesses(settings, dataDir);
  const names: ReadonlyArray<string> = own.witnesses.map(({ name }) => name);
  return { names, run: (at: Parameters<typeof runOwnWitnesses>[1]) => runOwnWitnesses(own, at) };
});

/** Most of the service's modules, loaded while the ledger starts. */
const serving = Effect.promise(() => import("./serve-instance.ts"));

/**
 * Starts everything in this order: the claim on the data directory, the embedded ledger, HTTP,
 * and then store and index as soon as the ledger answers. Closing the scope stops all in reverse order, so that
 * requests finish first and ledger and directory are released last. With `workerEnvironment`, which the settings were
 * read from, what SQLite stores hold is written by a worker; without, by this thread. Ledger, worker and this thread
 * load side by side. One of several workers finds the data directory claimed by the process that runs them.
 */
export const startService = (
  settings: Settings,
  workerEnvironment: Environment | null = null,
): Effect.Effect<RunningService, StartFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const startedAtMs = yield* Clock.currentTimeMillis;
    provideSha256(sha256Bun);
    const dataDir =
      settings.workers > 1
        ? resolve(settings.dataDir)
        : yield* claimDataDirectory(settings.dataDir);
    const beginThread =
      workerEnvironment === null || settings.database !== null
        ? Effect.succeed(null)
        : spawnSyncThread(workerEnvironment);
    const [{ rpcUrls, webSocketUrl, ledgerPid }, own, { serveInstance }, thread] =
      yield* Effect.all(
        [findLedger(settings, dataDir), ownWitnesses(settings, dataDir), serving, beginThread],
        { concurrency: "unbounded" },
      );
    const started = { settings, dataDir, rpcUrls, webSocketUrl, startedAtMs };
    const served = yield* serveInstance(started, thread);
    const rpcUrl = Redacted.value(rpcUrls[0]).href;
    // They find no log before, and would only take time from the start.
    yield* served.logReached.pipe(
      Effect.andThen(
        own.run({
          ...served,
          service: served.url,
          rpcUrl,
          webSocketUrl: Redacted.value(webSocketUrl).href,
        }),
      ),
      Effect.forkScoped,
    );
    return { ...served, rpcUrl, ledgerPid, ownWitnesses: own.names };
  }).pipe(Effect.provide(logging(settings.logFormat, settings.logLevel)));
