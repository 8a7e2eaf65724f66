import { Deferred, Effect, type Scope } from "effect";
import { liveAgainAndAgain } from "../bun/child-process.ts";
import {
  type LedgerAddresses,
  type LedgerProcess,
  type LocalLedgerDidNotStart,
  startLedgerProcess,
} from "./ledger-process.ts";

/** The options of the embedded ledger. */
export type SupervisedLedgerOptions = {
  /** The service's data directory. The ledger keeps its state in `local-ledger` inside it. */
  readonly dataDir: string;
  /** HTTP port, with WebSocket on the next. 0 takes free ports and keeps them for all restarts. */
  readonly port: number;
  readonly demo: boolean;
  /** Slots between `confirmed` and `finalized`, [0, 150]; 0 by default. */
  readonly finalitySlots?: number;
};

/** The embedded ledger. Its addresses stay the same when its process restarts. */
export type SupervisedLedger = LedgerAddresses & {
  /** Its present process, undefined while it is down. */
  readonly process: Effect.Effect<Pick<LedgerProcess, "pid"> | undefined>;
};

const argumentsOf = (options: SupervisedLedgerOptions, addresses: LedgerAddresses | undefined) => [
  "--data-dir",
  options.dataDir,
  "--port",
  addresses === undefined ? String(options.port) : new URL(addresses.rpcUrl).port,
  ...(addresses === undefined ? [] : ["--ws-port", new URL(addresses.webSocketUrl).port]),
  ...(options.demo ? [] : ["--no-demo"]),
  "--finality-slots",
  String(options.finalitySlots ?? 0),
];

/**
 * Runs the local ledger beside the service until the scope closes, and restarts it with its state whenever its process
 * ends. It has a process of its own because a panic in the virtual machine aborts the whole process. Fails only when
 * the first start fails.
 */
export const superviseLocalLedger = (
  options: SupervisedLedgerOptions,
): Effect.Effect<SupervisedLedger, LocalLedgerDidNotStart, Scope.Scope> =>
  Effect.gen(function* () {
    const ready = yield* Deferred.make<LedgerAddresses, LocalLedgerDidNotStart>();
    let addresses: LedgerAddresses | undefined;
    let running: LedgerProcess | undefined;

    const live = Effect.scoped(
      Effect.gen(function* () {
        const started = yield* startLedgerProcess(argumentsOf(options, addresses));
        running = started;
        addresses ??= { rpcUrl: started.rpcUrl, webSocketUrl: started.webSocketUrl };
        yield* Deferred.succeed(ready, addresses);
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

    const restarting = liveAgainAndAgain(
      Effect.catchTag(live, "LocalLedgerDidNotStart", (error) =>
        // Without a first start there is nothing to restart. The caller gets the failure.
        addresses === undefined ? error : Effect.succeed(`it did not start: ${error.reason}`),
      ),
      (reason, pauseMs) =>
        Effect.logError("the local ledger is down and restarts", { reason, pauseMs }),
    );
    yield* restarting.pipe(
      Effect.catch((error) => Deferred.fail(ready, error)),
      Effect.forkScoped,
    );
    const { rpcUrl, webSocketUrl } = yield* Deferred.await(ready);
    return {
      rpcUrl,
      webSocketUrl,
      process: Effect.sync(() => (running === undefined ? undefined : { pid: running.pid })),
    };
  });
