import { Worker } from "node:worker_threads";
import { Deferred, Effect, type Scope } from "effect";

/** Variables that the worker reads its settings from. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A worker's thread: it loads its modules and waits to be told to start. */
export type SyncThread = {
  readonly worker: Worker;
  /** Completes with why the thread ended, also when that was before anybody asked. */
  readonly ended: Effect.Effect<string>;
};

/**
 * Begins the thread of the worker that syncs, so that it loads its modules beside the rest of the start. It ends with
 * the scope at the latest.
 */
export const spawnSyncThread = (
  environment: Environment,
): Effect.Effect<SyncThread, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const env = Object.fromEntries(
        Object.entries(environment).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, value]],
        ),
      );
      const worker = new Worker(new URL("./worker.ts", import.meta.url), { name: "sync", env });
      const ended = Deferred.makeUnsafe<string>();
      worker.on("error", (cause) =>
        Deferred.doneUnsafe(
          ended,
          Effect.succeed(cause instanceof Error ? cause.message : String(cause)),
        ),
      );
      worker.on("exit", (code) =>
        Deferred.doneUnsafe(ended, Effect.succeed(`it exited with ${code}`)),
      );
      return { worker, ended: Deferred.await(ended) };
    }),
    // Work in native code ends with the process. Nobody waits for it.
    ({ worker }) => Effect.sync(() => void worker.terminate()),
  );
