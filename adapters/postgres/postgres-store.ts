import { SQL } from "bun";
import { Context, Duration, Effect, Layer, Redacted, Semaphore } from "effect";
import {
  type StoreCorrupt,
  type StoreTooNew,
  StoreUnavailable,
} from "../../ports/index/store-refusal.ts";
import { makeSchema } from "./make-schema.ts";
import { tryStore } from "./try-store.ts";

/** Where the tables are unless `?schema=` in the address says otherwise. */
const DEFAULT_SCHEMA = "settlement_evidence";

/**
 * What the server cuts short, in milliseconds, so that no replica that hangs or is cut off keeps the
 * others waiting: the middle figure is below the lease's time, see sync-lease.ts.
 */
const SESSION = {
  application_name: "settlement-evidence",
  statement_timeout: 10_000,
  idle_in_transaction_session_timeout: 2000,
  lock_timeout: 5000,
};
/**
 * Pages are few rows each and indexes are warm: without this the planner, which reckons with a disk that seeks, walks
 * along the newest rows of everybody for a page of one merchant's.
 */
const PLANNER = { random_page_cost: 1.1 };
/** When the network swallows an answer; above everything the server cuts short itself. */
const GIVEN_UP_AFTER = Duration.seconds(15);
/** When the server cuts short what `runLong` runs, milliseconds. */
export const LONGEST_MS = 3_600_000;
const LONG_GIVEN_UP_AFTER = Duration.millis(LONGEST_MS + 5000);

/** How a store runs work. */
type Run = <A>(work: (sql: SQL) => Promise<A>) => Effect.Effect<A, StoreUnavailable>;

/** One schema of a Postgres database, and the connections to it. */
export class PostgresStore extends Context.Service<
  PostgresStore,
  {
    /** The address without credentials, for messages. */
    readonly label: string;
    readonly schema: string;
    /** Connects and makes the schema where there is none; once it has succeeded it asks nothing more. */
    readonly ready: Effect.Effect<void, StoreUnavailable | StoreTooNew | StoreCorrupt>;
    /** Runs work on the connections. A failure that asking again may mend is retryable. */
    readonly run: Run;
    /** Runs work once the schema is there. A store that `ready` refuses fails it for good. */
    readonly runReady: Run;
    /**
     * Runs work that takes the longer the more the store holds: the client gives it up after an hour, and so does the
     * server in a transaction that sets its `statement_timeout` to `LONGEST_MS`.
     */
    readonly runLong: Run;
  }
>()("settlement-evidence/adapters/PostgresStore") {}

/** A function of a port, with the span's name: work on the connections with its arguments. */
export const storeCall = <Args extends ReadonlyArray<unknown>, A>(
  run: Run,
  name: string,
  work: (sql: SQL, ...args: Args) => Promise<A>,
): ((...args: Args) => Effect.Effect<A, StoreUnavailable>) =>
  Effect.fn(name)((...args: Args) => run((sql) => work(sql, ...args)));

/** An address taken apart: `?schema=` is this program's own parameter, the rest is the client's. */
export const databaseOf = (address: URL) => {
  const url = new URL(address);
  const schema = url.searchParams.get("schema") ?? DEFAULT_SCHEMA;
  url.searchParams.delete("schema");
  const label = `${url.protocol}//${url.host}${url.pathname} (schema ${schema})`;
  return { url, schema, label };
};

/** A store that its schema refuses, to work that knows only whether the store is available. */
const refused = (cause: StoreTooNew | StoreCorrupt) =>
  Effect.fail(new StoreUnavailable({ retryable: false, cause }));

/**
 * A store at a `postgres://` address, whose parameters are Bun's (`sslmode` and others) and `schema`,
 * a name that `isSchemaName` accepts. Nothing is opened before it is used; closed with the scope.
 */
export const postgresStore = (address: Redacted.Redacted<URL>) =>
  Layer.effect(
    PostgresStore,
    Effect.gen(function* () {
      const { url, schema, label } = databaseOf(Redacted.value(address));
      const sql = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new SQL(url.href, {
              bigint: true,
              connectionTimeout: 5,
              connection: { ...SESSION, ...PLANNER, search_path: schema },
            }),
        ),
        (opened) => Effect.promise(() => opened.close({ timeout: 1 })),
      );
      const within =
        (duration: Duration.Duration) =>
        <A>(work: (sql: SQL) => Promise<A>) =>
          tryStore(() => work(sql)).pipe(
            Effect.timeoutOrElse({
              duration,
              orElse: () =>
                Effect.fail(new StoreUnavailable({ retryable: true, cause: "no answer in time" })),
            }),
            Effect.mapError(
              ({ retryable, cause, fault }) =>
                new StoreUnavailable({ retryable, cause, fault, store: label }),
            ),
          );
      const run = within(GIVEN_UP_AFTER);
      const oneAtATime = yield* Semaphore.make(1);
      let isReady = false;
      const ready = oneAtATime.withPermit(
        Effect.gen(function* () {
          if (isReady) return;
          const refusal = yield* run((client) => makeSchema(client, label, schema));
          if (refusal !== undefined) return yield* refusal;
          isReady = true;
        }),
      );
      const runReady = <A>(work: (client: SQL) => Promise<A>) =>
        ready.pipe(
          Effect.catchTags({ StoreTooNew: refused, StoreCorrupt: refused }),
          Effect.andThen(run(work)),
        );
      const runLong = within(LONG_GIVEN_UP_AFTER);
      return PostgresStore.of({ label, schema, ready, run, runReady, runLong });
    }),
  );
