import { SQL } from "bun";
import { Effect } from "effect";
import { StoreUnavailable } from "../../ports/index/store-unavailable.ts";

/**
 * SQLSTATEs (PostgreSQL manual, appendix A), or classes of them, after which the same work can
 * succeed later: no connection (08), rolled back for another's sake (40), no room (53), in use by
 * others (55), cancelled or shutting down (57), input or output failed (58), idle too long (25P03).
 */
const PASSING = ["08", "40", "53", "55", "57", "58", "25P03"];
/** Those that need a person: not let in (28, 42501, 25006), no such database (3D), damaged (XX001, XX002). */
const LASTING = ["28", "3D", "42501", "25006", "XX001", "XX002"];

/** Bun's codes where the server said nothing: it is away, or the two cannot agree on how to talk. */
const AWAY = /^ERR_POSTGRES_(CONNECTION_|.*_TIMEOUT$|COMMIT_ROLLED_BACK)/;
const DISAGREED = /^ERR_POSTGRES_(.*AUTHENTICATION_|TLS_|SASL_|CHANNEL_BINDING_)/;

/** Whether an error is one of the file system, such as a full disk under the rows of a build. */
const isOfFileSystem = (cause: unknown): boolean => cause instanceof Error && "syscall" in cause;

/** Whether the same work can succeed later; undefined when the error tells of a mistake in the program. */
const isPassing = (cause: unknown): boolean | undefined => {
  if (isOfFileSystem(cause)) return true;
  if (!(cause instanceof SQL.PostgresError)) return undefined;
  const { code, errno } = cause;
  const has = (prefixes: ReadonlyArray<string>) => prefixes.some((p) => errno?.startsWith(p));
  if (errno === undefined ? AWAY.test(code) : has(PASSING)) return true;
  return (errno === undefined ? DISAGREED.test(code) : has(LASTING)) ? false : undefined;
};

/** Runs work on the database; what the server, the network or the disk prevents fails, anything else is a defect. */
export const tryStore = <A>(work: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: work, catch: (cause) => ({ cause }) }).pipe(
    Effect.catch(({ cause }): Effect.Effect<never, StoreUnavailable> => {
      if (cause instanceof StoreUnavailable) return Effect.fail(cause);
      const retryable = isPassing(cause);
      return retryable === undefined
        ? Effect.die(cause)
        : Effect.fail(new StoreUnavailable({ retryable, cause }));
    }),
  );
