import { SQL } from "bun";
import { Effect } from "effect";
import { type StoreFault, StoreUnavailable } from "../../ports/index/store-refusal.ts";

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

/** What a pooler says under one SQLSTATE (08P01) of what the server has states for. */
const OF_POOLER: ReadonlyArray<readonly [words: RegExp, sqlState: string]> = [
  [/authentication failed|no such user/, "28000"],
  [/^no such database|^database ".*" does not exist/, "3D000"],
];

/** The SQLSTATE of a failure, undefined where the server said nothing. */
const sqlStateOf = ({ errno, message }: SQL.PostgresError): string | undefined =>
  errno === "08P01" ? (OF_POOLER.find(([words]) => words.test(message))?.[1] ?? errno) : errno;

/** Whether an error is one of the file system, such as a full disk under the rows of a build. */
const isOfFileSystem = (cause: unknown): boolean => cause instanceof Error && "syscall" in cause;

/** Whether the same work can succeed later; undefined when the error tells of a mistake in the program. */
const isPassing = (cause: unknown): boolean | undefined => {
  if (isOfFileSystem(cause)) return true;
  if (!(cause instanceof SQL.PostgresError)) return undefined;
  const { code } = cause;
  const state = sqlStateOf(cause);
  const has = (prefixes: ReadonlyArray<string>) => prefixes.some((p) => state?.startsWith(p));
  if (state === undefined ? AWAY.test(code) : has(PASSING)) return true;
  return (state === undefined ? DISAGREED.test(code) : has(LASTING)) ? false : undefined;
};

const AWAY_FAULT: StoreFault = {
  problem: "the database server does not answer",
  cure: "Start the database server, or correct the host and port in DATABASE_URL.",
};
const CURES: ReadonlyArray<readonly [sqlStates: RegExp, fault: StoreFault]> = [
  [
    /^28/,
    {
      problem: "the database server does not let this role in",
      cure: "Correct the role and the password in DATABASE_URL, or the server's pg_hba.conf.",
    },
  ],
  [
    /^3D/,
    {
      problem: "the server has no such database",
      cure: "Create it (createdb), or correct the name in DATABASE_URL.",
    },
  ],
  [
    /^42501/,
    {
      problem: "its role may not do that",
      cure: "Grant the role CREATE on the database, or let it own the schema.",
    },
  ],
  [
    /^25006/,
    {
      problem: "it takes no writes",
      cure: "Name the primary server in DATABASE_URL; if it is the primary, see why default_transaction_read_only is on there.",
    },
  ],
  [
    /^53100/,
    {
      problem: "no space is left on the database server's disk",
      cure: "Make room on the database server's disk.",
    },
  ],
  [
    /^53/,
    {
      problem: "the server has no connection or memory left",
      cure: "Raise the database server's limits, or free what it lacks.",
    },
  ],
  [/^XX/, { problem: "it is damaged", cure: "Restore the database, or name another." }],
];

/** What a failure says of the database, undefined where no more is known than the failure itself. */
const faultOf = (cause: unknown): StoreFault | undefined => {
  if (!(cause instanceof SQL.PostgresError)) return undefined;
  const { code } = cause;
  const state = sqlStateOf(cause);
  if (state !== undefined) return CURES.find(([sqlStates]) => sqlStates.test(state))?.[1];
  return DISAGREED.test(code)
    ? {
        problem: "the database server and the service do not agree on how to connect",
        cure: "Correct the password and sslmode in DATABASE_URL, or name a PostgreSQL server.",
      }
    : AWAY_FAULT;
};

/** Runs work on the database; what the server, the network or the disk prevents fails, anything else is a defect. */
export const tryStore = <A>(work: () => Promise<A>): Effect.Effect<A, StoreUnavailable> =>
  Effect.tryPromise({ try: work, catch: (cause) => ({ cause }) }).pipe(
    Effect.catch(({ cause }): Effect.Effect<never, StoreUnavailable> => {
      if (cause instanceof StoreUnavailable) return Effect.fail(cause);
      const retryable = isPassing(cause);
      return retryable === undefined
        ? Effect.die(cause)
        : Effect.fail(new StoreUnavailable({ retryable, cause, fault: faultOf(cause) }));
    }),
  );
