import { Clock, Deferred, Duration, Effect, type Scope } from "effect";
import {
  type LedgerPlace,
  type LedgerProcess,
  type LocalLedgerDidNotStart,
  startLedgerProcess,
} from "./ledger-process.ts";

/** How to run the embedded ledger. */
export type SupervisedLedgerOptions = {
  /** The service's data directory; the ledger keeps its state in `local-ledger` below it. */
  readonly dataDir: string;
  /** HTTP port, WebSocket on the next; 0 takes free ports, once for all restarts. */
  readonly port: number;
  readonly demo: boolean;
};

/** The embedded ledger, at the same addresses however often its process is started. */
export type SupervisedLedger = LedgerPlace & {
  /** Its process now, undefined while it is down. */
  readonly process: Effect.Effect<Pick<LedgerProcess, "pid"> | undefined>;
};

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5000;
/** A process that ran as long as this gets the first pause again. */
const STEADY_MS = 10_000;

const argumentsOf = (options: SupervisedLedgerOptions, place: LedgerPlace | undefined) => [
  "--data-dir",
  options.dataDir,
  "--port",
  place === undefined ? String(options.port) : new URL(place.rpcUrl).port,
  ...(place === undefined ? [] : ["--ws-port", new URL(place.webSocketUrl).port]),
  ...(options.demo ? [] : ["--no-demo"]),
];

/**
 * Runs the local ledger beside the service until the scope closes, and starts it again, with its state,
 * whenever its process ends: a panic in the virtual machine aborts the process it runs in, so it must not
 * be the service's own. Fails only when the first start does.
 */
export const superviseLocalLedger = (
  options: SupervisedLedgerOptions,
): Effect.Effect<SupervisedLedger, LocalLedgerDidNotStart, Scope.Scope> =>
  Effect.gen(function* () {
    const ready = yield* Deferred.make<LedgerPlace, LocalLedgerDidNotStart>();
    let place: LedgerPlace | undefined;
    let running: LedgerProcess | undefined;

    const live = Effect.scoped(
      Effect.gen(function* () {
        const started = yield* startLedgerProcess(argumentsOf(options, place));
        running = started;
        place ??= { rpcUrl: started.rpcUrl, webSocketUrl: started.webSocketUrl };
        yield* Deferred.succeed(ready, place);
        const { how, said } = yield* started.ended;
        return `it ended by ${how}${said === "" ? "" : `: ${said}`}`;
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            running = undefined;
          }),
        ),
      ),
    );

    const liveAgainAndAgain = Effect.gen(function* () {
      let pauseMs = FIRST_PAUSE_MS;
      for (;;) {
        const startedMs = yield* Clock.currentTimeMillis;
        const reason = yield* live.pipe(
          Effect.catchTag("LocalLedgerDidNotStart", (error) =>
            Effect.as(Deferred.fail(ready, error), `it did not start: ${error.reason}`),
          ),
        );
        // Without a first start there is nothing to bring back: the failure is the caller's.
        if (place === undefined) return;
        if ((yield* Clock.currentTimeMillis) - startedMs >= STEADY_MS) pauseMs = FIRST_PAUSE_MS;
        yield* Effect.logError("the local ledger is down and starts again", { reason, pauseMs });
        yield* Effect.sleep(Duration.millis(pauseMs));
        pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
      }
    });

    yield* Effect.forkScoped(liveAgainAndAgain);
    const { rpcUrl, webSocketUrl } = yield* Deferred.await(ready);
    return {
      rpcUrl,
      webSocketUrl,
      process: Effect.sync(() => (running === undefined ? undefined : { pid: running.pid })),
    };
  });
