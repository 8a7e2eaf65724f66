import { SQLiteError } from "bun:sqlite";
import { Effect } from "effect";
import { StoreUnavailable } from "../../ports/index/store-unavailable.ts";

/** Result codes after which the same work can succeed later: locked elsewhere, disk full or failing. */
const PASSING = ["SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_NOMEM"];
/** Result codes that need a person: damaged or foreign file, no permission, file gone. */
const LASTING = [
  "SQLITE_CORRUPT",
  "SQLITE_NOTADB",
  "SQLITE_READONLY",
  "SQLITE_CANTOPEN",
  "SQLITE_PERM",
  "SQLITE_AUTH",
];

/** Whether an error has one of these result codes, in its extended forms too (sqlite.org/rescode.html). */
const hasResultCode = (cause: unknown, codes: ReadonlyArray<string>): boolean =>
  cause instanceof SQLiteError &&
  codes.some((code) => cause.code === code || cause.code?.startsWith(`${code}_`) === true);

/** Whether an error says that the file is damaged or is no SQLite database. */
export const isDamage = (cause: unknown): boolean =>
  hasResultCode(cause, ["SQLITE_CORRUPT", "SQLITE_NOTADB"]);

/** Whether an error is one of the file system, such as a full disk under files that are not SQLite's. */
const isOfFileSystem = (cause: unknown): boolean => cause instanceof Error && "syscall" in cause;

/**
 * Runs work on the store. What the file system or a lock prevents fails, as does what the work throws as
 * `StoreUnavailable`; anything else is a defect.
 */
export const tryStore = <A>(work: () => A): Effect.Effect<A, StoreUnavailable> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(work());
    } catch (cause) {
      if (cause instanceof StoreUnavailable) return Effect.fail(cause);
      if (isOfFileSystem(cause))
        return Effect.fail(new StoreUnavailable({ retryable: true, cause }));
      if (hasResultCode(cause, PASSING)) {
        return Effect.fail(new StoreUnavailable({ retryable: true, cause }));
      }
      if (hasResultCode(cause, LASTING)) {
        return Effect.fail(new StoreUnavailable({ retryable: false, cause }));
      }
      return Effect.die(cause);
    }
  });

/** `tryStore` of work that yields where the process may do other things. */
export const inTurns = <A>(work: () => Generator<void, A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.gen(function* () {
    const steps = work();
    for (;;) {
      const step = yield* tryStore(() => steps.next());
      if (step.done === true) return step.value;
      yield* Effect.yieldNow;
    }
  });
