import { Database } from "bun:sqlite";
import { constants } from "node:fs";
import { access, mkdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Data, Duration, Effect, Schedule, type Scope } from "effect";

/** The data directory cannot be used, with a reason for the operator. */
export class DataDirectoryUnusable extends Data.TaggedError("DataDirectoryUnusable")<{
  readonly path: string;
  readonly reason: string;
}> {}

class LockFailed extends Data.TaggedError("LockFailed")<{ readonly cause: unknown }> {}

const LOCK_FILE = "service.lock";

/** A service that is stopping may need a moment to release the directory. */
const TRY_AGAIN = { schedule: Schedule.spaced(Duration.millis(200)), times: 7 };

const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? cause.message : String(cause);

/** Why a directory is of no use when it could not be made, opened or written, and what to do. */
export const notWritable = (cause: unknown): string =>
  `it cannot be written (${reasonOf(cause)}); fix that or set another DATA_DIR`;

/**
 * What to say of a data directory that every user of the machine may read, undefined where none may. Stores and the
 * log's tiles are no secrets of the ledger, but who relays and who asks stands in them. The mode is left as its owner
 * has set it.
 */
export const readableByAll = async (path: string): Promise<string | undefined> =>
  ((await stat(path)).mode & 0o007) === 0
    ? undefined
    : `${path} can be read by every user of this machine; run chmod -R go= on it`;

/**
 * SQLite's lock on an empty database. The kernel releases it whenever the process ends, so no stale lock needs a
 * cleanup.
 */
const lock = (path: string): Database => {
  const database = new Database(join(path, LOCK_FILE), { create: true });
  try {
    database.run("pragma busy_timeout = 0");
    database.run("pragma journal_mode = memory");
    database.run("begin exclusive");
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
};

const isBusy = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && cause.code === "SQLITE_BUSY";

/**
 * Creates the directory if it is missing, for its user alone, checks that it can be written, and holds it for this
 * process until the scope closes. Two services in one directory would overwrite each other's files. Returns the
 * absolute path.
 */
export const claimDataDirectory = (
  dataDir: string,
): Effect.Effect<string, DataDirectoryUnusable, Scope.Scope> => {
  const path = resolve(dataDir);
  const unusable = (reason: string) => new DataDirectoryUnusable({ path, reason });
  return Effect.gen(function* () {
    const warning = yield* Effect.tryPromise({
      try: async () => {
        await mkdir(path, { recursive: true, mode: 0o700 });
        await access(path, constants.W_OK | constants.X_OK);
        return await readableByAll(path);
      },
      catch: (cause) => unusable(notWritable(cause)),
    });
    if (warning !== undefined) yield* Effect.logWarning(warning);
    yield* Effect.acquireRelease(
      Effect.try({
        try: () => lock(path),
        catch: (cause) => new LockFailed({ cause }),
      }).pipe(
        Effect.retry({ ...TRY_AGAIN, while: ({ cause }) => isBusy(cause) }),
        Effect.mapError(({ cause }) =>
          unusable(
            isBusy(cause)
              ? "another service is using it; stop that one or set another DATA_DIR"
              : `its ${LOCK_FILE} cannot be locked (${reasonOf(cause)}); see that the service's user may write there, or set another DATA_DIR`,
          ),
        ),
      ),
      (database) => Effect.sync(() => database.close()),
    );
    return path;
  });
};
