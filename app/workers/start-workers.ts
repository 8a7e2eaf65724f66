import { fileURLToPath } from "node:url";
import { Data, Deferred, Duration, Effect, Option, type Scope } from "effect";
import { liveAgainAndAgain } from "../../adapters/bun/child-process.ts";
import { type ListenFailed, takePort } from "../../adapters/http/server/serve-http.ts";
import { EX_CONFIG } from "../command-line/command-line.ts";
import type { Settings } from "../config/settings.ts";
import type { MetricsListenFailed } from "../lifecycle/shutdown.ts";
import { claimDataDirectory, type DataDirectoryUnusable } from "../stores/data-directory.ts";
import { serveWorkerMetrics } from "./worker-metrics.ts";

/** A worker cannot serve with these settings, or ends each time before it listens. It has said why. */
export class WorkerRefused extends Data.TaggedError("WorkerRefused")<{
  readonly worker: number;
  /** How its last process ended, for one that has ended each time; null for one that cannot serve. */
  readonly ended: string | null;
}> {
  override get message() {
    const what =
      this.ended === null
        ? "cannot serve"
        : `has ended ${MOST_TRIES} times before it listened, last with ${this.ended}`;
    return `Worker ${this.worker} ${what}, and the others end with it`;
  }
}

/** A start fails when one worker has ended this often in a row before it listened. */
const MOST_TRIES = 5;
/** How long a worker may take until it listens, with room for a busy machine: it waits for no node and no database. */
const LISTEN_WITHIN_MS = 120_000;

/** What a worker tells the process that runs it once it listens: scheme, host and port of its listeners. */
export type WorkerListens = { readonly url: string; readonly metricsUrl: string | null };

/** Workers that listen, as one service. */
export type RunningWorkers = WorkerListens & {
  /** Never succeeds. Fails when no worker is left that can serve with these settings. */
  readonly refused: Effect.Effect<never, WorkerRefused>;
};

/** Why workers do not start. */
export type WorkersFailure =
  | DataDirectoryUnusable
  | ListenFailed
  | MetricsListenFailed
  | WorkerRefused;

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));

/** The processes of workers that have not ended. */
type Children = Set<Bun.Subprocess>;

/** The worker's process until the scope closes, which asks it to end and waits until it has drained. */
const workerProcess = (
  worker: number,
  port: number,
  children: Children,
  listens: (at: WorkerListens) => void,
) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const child = Bun.spawn([process.execPath, MAIN, "--worker", String(worker)], {
        // It ends when this closes, however this process ends.
        stdin: "pipe",
        stdout: "inherit",
        stderr: "inherit",
        env: { ...process.env, PORT: String(port) },
        ipc: (message) => listens(message as WorkerListens),
      });
      children.add(child);
      return child;
    }),
    (child) =>
      Effect.promise(async () => {
        const isAsked = child.exitCode === null && child.signalCode === null;
        if (isAsked) child.kill("SIGTERM");
        const code = await child.exited;
        // One that did not stop in order may have lost a request, which the service's own exit code tells. One that the
        // signal itself has ended had not begun to serve.
        if (isAsked && code !== 0 && child.signalCode !== "SIGTERM") process.exitCode = 1;
        children.delete(child);
      }),
  );

/** Whether a worker takes longer than it may until it listens. Never says so of one that listens. */
const isSilent = (begun: Deferred.Deferred<void>, withinMs: number) =>
  Deferred.await(begun).pipe(
    Effect.timeoutOption(Duration.millis(withinMs)),
    Effect.flatMap(
      Option.match({ onNone: () => Effect.succeed(true), onSome: () => Effect.never }),
    ),
  );

/** No children yet. Those that are in it when this process exits at once are killed with it. */
const noChildren = Effect.gen(function* () {
  const children: Children = new Set();
  const killAll = (): void => {
    for (const child of children) child.kill("SIGKILL");
  };
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("exit", killAll)),
    () => Effect.sync(() => process.off("exit", killAll)),
  );
  return children;
});

/**
 * Starts as many workers as the settings say, which share the port, and keeps them running until the scope closes:
 * another one takes the place of each that ends, and of each that does not listen within `listenWithinMs`, which is
 * killed. Completes once all listen, and fails when one ends five times in a row before that. The first one takes the
 * port before the others, so that 0 stands for a free one.
 */
export const startWorkers = (
  settings: Settings,
  listenWithinMs: number = LISTEN_WITHIN_MS,
): Effect.Effect<RunningWorkers, WorkersFailure, Scope.Scope> =>
  Effect.gen(function* () {
    const { host: hostname, metricsPort } = settings;
    let { port } = settings;
    yield* claimDataDirectory(settings.dataDir);
    // Who shares a port does not notice that another service has it.
    if (port !== 0) yield* takePort(hostname, port);
    const listening = new Map<number, WorkerListens>();
    const metricsUrl =
      metricsPort === null
        ? null
        : yield* serveWorkerMetrics(listening, settings.workers, { hostname, port: metricsPort });
    const children = yield* noChildren;

    let isUp = false;

    const keep = (worker: number, begun: Deferred.Deferred<WorkerListens>) => {
      let lives = 0;
      let failedTries = 0;
      const live = Effect.gen(function* () {
        lives += 1;
        failedTries += 1;
        const listened = yield* Deferred.make<void>();
        const child = yield* workerProcess(worker, port, children, (at) => {
          if (port === 0) port = Number(new URL(at.url).port);
          listening.set(worker, at);
          failedTries = 0;
          Deferred.doneUnsafe(listened, Effect.void);
          Deferred.doneUnsafe(begun, Effect.succeed(at));
        });
        const exited = Effect.promise(() => child.exited);
        const hangs = yield* Effect.raceFirst(
          Effect.as(exited, false),
          isSilent(listened, listenWithinMs),
        );
        if (hangs) child.kill("SIGKILL");
        const code = yield* exited;
        listening.delete(worker);
        const isRefused = code === EX_CONFIG;
        // A setting that has gone bad since the start, such as a key's file, keeps nobody else from serving.
        if (isRefused && (lives === 1 || listening.size === 0))
          return yield* new WorkerRefused({ worker, ended: null });
        const ended = child.signalCode === null ? `exit code ${code}` : String(child.signalCode);
        const reason = hangs
          ? `${ended}, because it did not listen within ${listenWithinMs / 1000} s`
          : ended;
        if (!isUp && failedTries >= MOST_TRIES)
          return yield* new WorkerRefused({ worker, ended: reason });
        return isRefused ? "it cannot serve with these settings, and has said why" : reason;
      });
      return liveAgainAndAgain(Effect.scoped(live), (reason, pauseMs) =>
        Effect.logError("a worker has ended, and another one takes its place", {
          worker,
          reason,
          pauseMs,
        }),
      );
    };
    const refused = yield* Deferred.make<never, WorkerRefused>();
    const first = yield* Deferred.make<WorkerListens>();
    const others = yield* Effect.forEach(Array.from({ length: settings.workers - 1 }), () =>
      Deferred.make<WorkerListens>(),
    );
    const keepers = others.map((begun, at) =>
      Effect.andThen(Deferred.await(first), keep(at + 2, begun)),
    );
    yield* Effect.all([keep(1, first), ...keepers], { concurrency: "unbounded" }).pipe(
      Effect.catch((failure) => Deferred.fail(refused, failure)),
      Effect.forkScoped,
    );
    const all = Effect.forEach([...others, first], Deferred.await);
    yield* Effect.raceFirst(all, Deferred.await(refused));
    isUp = true;
    const { url } = yield* Deferred.await(first);
    return { url, metricsUrl, refused: Deferred.await(refused) };
  });
