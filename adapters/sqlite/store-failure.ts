import { SQLiteError } from "bun:sqlite";
import { Effect } from "effect";
import { type StoreFault, StoreUnavailable } from "../../ports/index/store-refusal.ts";

type Fault = StoreFault & {
  /** Whether the same work can succeed later. The others need a person. */
  readonly retryable: boolean;
};

const DISK_FULL: Fault = {
  retryable: true,
  problem: "no space is left on its disk",
  cure: "Free space on the disk of the stores.",
};
const DISK_FAILS: Fault = {
  retryable: true,
  problem: "its disk fails to read or write",
  cure: "Look at the disk of the stores, and at the machine's log.",
};
const HELD: Fault = {
  retryable: true,
  problem: "another program holds it",
  cure: "Stop the other program that holds the store.",
};
const NO_MEMORY: Fault = {
  retryable: true,
  problem: "the machine gives it no more memory or open files",
  cure: "Raise the memory and open files that the service may have.",
};
const NOT_ALLOWED: Fault = {
  retryable: false,
  problem: "the service's user may not write there",
  cure: "Give that user the right (chown, chmod), or set another DATA_DIR.",
};
const READ_ONLY: Fault = {
  retryable: false,
  problem: "its disk is mounted for reading alone",
  cure: "Mount it for writing, or set another DATA_DIR.",
};
const IN_THE_WAY: Fault = {
  retryable: false,
  problem: "a file stands where a folder belongs, or a folder where a file does",
  cure: "Move it away, or set another DATA_DIR.",
};
const NOT_OPENED: Fault = {
  retryable: false,
  problem: "it cannot be opened: a folder stands there, or the service's user may not open it",
  cure: "Move the folder away or give that user the right, or set another DATA_DIR.",
};

/** By SQLite's result code, in its extended forms too (sqlite.org/rescode.html). */
const FAULT_OF_RESULT: Readonly<Record<string, Fault>> = {
  SQLITE_BUSY: HELD,
  SQLITE_LOCKED: HELD,
  SQLITE_FULL: DISK_FULL,
  SQLITE_IOERR: DISK_FAILS,
  SQLITE_NOMEM: NO_MEMORY,
  SQLITE_CORRUPT: {
    retryable: false,
    problem: "it is damaged",
    cure: "Move it away and start again.",
  },
  SQLITE_NOTADB: {
    retryable: false,
    problem: "it is no SQLite database",
    cure: "Move it away and start again.",
  },
  SQLITE_READONLY: NOT_ALLOWED,
  SQLITE_CANTOPEN: NOT_OPENED,
  SQLITE_PERM: NOT_ALLOWED,
  SQLITE_AUTH: NOT_ALLOWED,
};

/** By the file system's error code (errno(3)), of files that are not SQLite's. Another one is `DISK_FAILS`. */
const FAULT_OF_ERRNO: Readonly<Record<string, Fault>> = {
  ENOSPC: DISK_FULL,
  EDQUOT: DISK_FULL,
  EMFILE: NO_MEMORY,
  ENFILE: NO_MEMORY,
  ENOMEM: NO_MEMORY,
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EROFS: READ_ONLY,
  EEXIST: IN_THE_WAY,
  ENOTDIR: IN_THE_WAY,
  EISDIR: IN_THE_WAY,
};

/** Whether an error has one of these result codes, in its extended forms too (sqlite.org/rescode.html). */
const hasResultCode = (cause: unknown, codes: ReadonlyArray<string>): boolean =>
  cause instanceof SQLiteError &&
  codes.some((code) => cause.code === code || cause.code?.startsWith(`${code}_`) === true);

/** Whether an error says that the file is damaged or is no SQLite database. */
export const isDamage = (cause: unknown): boolean =>
  hasResultCode(cause, ["SQLITE_CORRUPT", "SQLITE_NOTADB"]);

/** What an error of SQLite or of the file system says of the store; undefined for any other. */
const faultOf = (cause: unknown): Fault | undefined => {
  if (!(cause instanceof Error)) return undefined;
  if ("syscall" in cause) {
    const code = "code" in cause ? String(cause.code) : "";
    return FAULT_OF_ERRNO[code] ?? DISK_FAILS;
  }
  if (!(cause instanceof SQLiteError)) return undefined;
  const result = /^SQLITE_[A-Z]+/.exec(cause.code ?? "")?.[0];
  return result === undefined ? undefined : FAULT_OF_RESULT[result];
};

/** The failure that an error of SQLite or of the file system is; undefined for any other. */
export const storeFailure = (cause: unknown): StoreUnavailable | undefined => {
  const storeFault = faultOf(cause);
  if (storeFault === undefined) return undefined;
  const { retryable, ...fault } = storeFault;
  return new StoreUnavailable({ retryable, cause, fault });
};

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
      const failure = storeFailure(cause);
      return failure === undefined ? Effect.die(cause) : Effect.fail(failure);
    }
  });

/** A function of a port, with the span's name: `tryStore` of work with its arguments. */
export const storeCall = <Args extends ReadonlyArray<unknown>, A>(
  name: string,
  work: (...args: Args) => A,
): ((...args: Args) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.fn(name)((...args: Args) => tryStore(() => work(...args)));

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
