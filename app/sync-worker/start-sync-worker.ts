import type { Worker } from "node:worker_threads";
import { Deferred, Duration, Effect, Redacted, type Scope } from "effect";
import type { SyncReport } from "../../core/domain/index/sync-report.ts";
import type { IndexSync, SyncActivity } from "../../core/use-cases/index/sync/index-sync.ts";
import { decodeOutcome, type SyncFailure } from "../../core/use-cases/index/sync/sync-failure.ts";
import { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import type { GrownMark } from "../syncing/syncing-side.ts";
import type { StartedInstance } from "../lifecycle/started-instance.ts";
import type { StoresRefused } from "../stores/stores-of-ledger.ts";
import { type FromSyncWorker, refusalOf, SyncWorkerEnded, type ToSyncWorker } from "./messages.ts";
import type { SyncThread } from "./sync-thread.ts";

/** How long the worker may take to close its stores. The whole service has nine seconds to stop. */
const STOP_WITHIN = Duration.seconds(5);

const IDLE: SyncActivity = {
  running: false,
  lastError: null,
  snapshotError: null,
  snapshotFailures: 0,
  contradiction: null,
  contradictedAnswers: 0,
  peers: new Map(),
  callsElsewhere: [],
  hasHistory: true,
  signals: null,
  progress: null,
};

const gone = () =>
  new StoreUnavailable({ retryable: true, cause: "the worker that syncs has ended" });

type SyncWorker = {
  /** The syncs in the worker. The worker has its own timers and hints, so here `background` is a plain request. */
  readonly sync: IndexSync["Service"];
  /** Completes once readers can open the index. */
  readonly opened: Effect.Effect<void>;
};

/** What the service learns from its worker. */
type Hearing = {
  /** Why the worker cannot continue, also when it ends without being asked. */
  readonly refuse: (failure: StoresRefused | SyncWorkerEnded) => void;
  /** What keeps it from opening the index, at each try. */
  readonly hindered: (hindrance: StoreUnavailable) => void;
  /** Each completed sync. */
  readonly grown: (grown: GrownMark) => void;
};

const hrefOf = (url: Redacted.Redacted<URL>) => Redacted.value(url).href;

/** The plain data of `start`, which the worker cannot read from its environment. */
const startMessage = (started: StartedInstance): ToSyncWorker => {
  const [first, ...others] = started.rpcUrls;
  return {
    kind: "start",
    start: {
      dataDir: started.dataDir,
      rpcUrls: [hrefOf(first), ...others.map(hrefOf)],
      webSocketUrl: hrefOf(started.webSocketUrl),
      startedAtMs: started.startedAtMs,
      logFormat: started.settings.logFormat,
    },
  };
};

const tell = (worker: Worker, message: ToSyncWorker): void => worker.postMessage(message);

/**
 * Starts a worker thread, which fetches, decodes and writes. So a sync does not block the event loop that answers
 * requests. The thread stops with the scope.
 */
export const startSyncWorker = Effect.fnUntraced(function* (
  started: StartedInstance,
  { worker, ended }: SyncThread,
  { refuse, hindered, grown }: Hearing,
): Effect.fn.Return<SyncWorker, never, Scope.Scope> {
  const opened = yield* Deferred.make<void>();
  const stopped = yield* Deferred.make<void>();
  const answers = new Map<number, Deferred.Deferred<SyncReport, SyncFailure>>();
  let activity = IDLE;
  let requestId = 0;
  let isGone = false;

  /** Nothing comes from the worker from now on. */
  const end = (): void => {
    isGone = true;
    Deferred.doneUnsafe(stopped, Effect.void);
    for (const answer of answers.values()) Deferred.doneUnsafe(answer, Effect.fail(gone()));
    answers.clear();
  };
  const endBy = (failure: StoresRefused | SyncWorkerEnded): void => {
    if (isGone) return;
    end();
    refuse(failure);
  };
  const answer = (id: number, outcome: string | null): void => {
    const decoded = outcome === null ? null : decodeOutcome(outcome, "told by the worker");
    const waiting = answers.get(id);
    answers.delete(id);
    if (waiting === undefined) return;
    if (decoded === null)
      Deferred.doneUnsafe(waiting, Effect.die(new Error("a sync broke in the worker")));
    else if ("report" in decoded) Deferred.doneUnsafe(waiting, Effect.succeed(decoded.report));
    else Deferred.doneUnsafe(waiting, Effect.fail(decoded.failure));
  };
  const hear = (message: FromSyncWorker): void => {
    switch (message.kind) {
      case "log":
        process.stdout.write(message.line);
        return;
      case "opened":
        Deferred.doneUnsafe(opened, Effect.void);
        return;
      case "hindered": {
        const hindrance = refusalOf(message.hindrance);
        if (hindrance._tag === "StoreUnavailable") hindered(hindrance);
        return;
      }
      case "activity":
        activity = message.activity;
        return;
      case "grown":
        grown(message.grown);
        return;
      case "synced":
        answer(message.id, message.outcome);
        return;
      case "refused":
        endBy(refusalOf(message.refusal));
        return;
      case "stopped":
        end();
    }
  };

  worker.on("message", hear);
  yield* Effect.forkScoped(Effect.map(ended, (reason) => endBy(new SyncWorkerEnded({ reason }))));
  yield* Effect.acquireRelease(
    Effect.sync(() => tell(worker, startMessage(started))),
    () =>
      Effect.gen(function* () {
        if (!isGone) tell(worker, { kind: "stop" });
        yield* Effect.timeoutOption(Deferred.await(stopped), STOP_WITHIN);
        end();
      }),
  );

  const ask = (kind: "sync" | "snapshot") =>
    Effect.suspend(() => {
      if (isGone) return gone();
      requestId += 1;
      const answer = Deferred.makeUnsafe<SyncReport, SyncFailure>();
      answers.set(requestId, answer);
      tell(worker, { kind, id: requestId });
      return Deferred.await(answer);
    });
  const request = ask("sync");
  return {
    sync: {
      request,
      snapshot: ask("snapshot"),
      background: request,
      activity: Effect.sync(() => activity),
      // The worker listens to the ledger's signals itself.
      told: () => Effect.void,
      listening: () => Effect.void,
    },
    opened: Deferred.await(opened),
  };
});
