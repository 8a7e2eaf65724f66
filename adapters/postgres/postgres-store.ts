import { Context, Duration, Effect, Layer, Redacted, type Scope, Semaphore } from "effect";
import {
  type StoreCorrupt,
  type StoreTooNew,
  StoreUnavailable,
} from "../../ports/index/store-refusal.ts";
import { type Connections, makeConnections } from "./connections.ts";
import { makeSchema } from "./make-schema.ts";
import type { Queries } from "./queries.ts";
import { tryStore } from "./try-store.ts";

/** Where the tables are unless `?schema=` in the address says otherwise. */
const DEFAULT_SCHEMA = "settlement_evidence";

/**
 * What the server cuts short, in milliseconds, so that no replica that hangs or is cut off keeps the others waiting: the
 * middle figure is below the lease's time, see sync-lease.ts. Pages are few rows each and indexes are warm: without the
 * last one the planner, which reckons with a disk that seeks, walks along the newest rows of everybody for a page of one
 * merchant's.
 */
const SETTINGS = {
  statement_timeout: 10_000,
  idle_in_transaction_session_timeout: 2000,
  lock_timeout: 5000,
  random_page_cost: 1.1,
};
/** When the network swallows an answer; above everything the server cuts short itself. */
const GIVEN_UP_AFTER = Duration.seconds(15);
/** When the server cuts short what `runLong` runs, milliseconds. */
export const LONGEST_MS = 3_600_000;
const LONG_GIVEN_UP_AFTER = Duration.millis(LONGEST_MS + 5000);

/** How a store runs work. */
type Run = <A>(work: (sql: Queries) => Promise<A>) => Effect.Effect<A, StoreUnavailable>;

/** One schema of a Postgres database, and the connections to it. */
export class PostgresStore extends Context.Service<
  PostgresStore,
  {
    /** The address without credentials, for messages. */
    readonly label: string;
    readonly schema: string;
    /** Connects and makes the schema where there is none; once it has succeeded it asks nothing more. */
    readonly ready: Effect.Effect<void, StoreUnavailable | StoreTooNew | StoreCorrupt>;
    /** Runs statements on the connections. A failure that asking again may mend is retryable. */
    readonly run: Run;
    /** As `run`, once the schema is there. A store that `ready` refuses fails it for good. */
    readonly runReady: Run;
    /** As `run`, in one transaction: of work that fails nothing stays. */
    readonly transaction: Run;
    /**
     * A transaction that takes the longer the more the store holds: the client gives it up after an hour, and so does
     * the server in one that sets its `statement_timeout` to `LONGEST_MS`.
     */
    readonly longTransaction: Run;
    /**
     * Has `wake` called at each notification of a channel, and whenever the subscription is made anew, until the scope
     * ends. False where nothing will be told: DATABASE_URL is a pooler, and no DATABASE_DIRECT_URL is set.
     */
    readonly listen: (
      channel: string,
      wake: () => void,
    ) => Effect.Effect<boolean, StoreUnavailable, Scope.Scope>;
    /** Whether DATABASE_URL is a pooler in transaction mode. */
    readonly isPooled: Effect.Effect<boolean, StoreUnavailable>;
  }
>()("settlement-evidence/adapters/PostgresStore") {}

/** A function of a port, with the span's name: work on the connections with its arguments. */
export const storeCall = <Args extends ReadonlyArray<unknown>, A>(
  run: Run,
  name: string,
  work: (sql: Queries, ...args: Args) => Promise<A>,
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

/** The addresses of a store: DATABASE_URL, and DATABASE_DIRECT_URL if there is one. */
export type DatabaseAddresses = {
  readonly url: Redacted.Redacted<URL>;
  readonly directUrl: Redacted.Redacted<URL> | null;
};

/**
 * A store at a `postgres://` address, whose parameters are Bun's (`sslmode` and others) and `schema`, a name that
 * `isSchemaName` accepts. Behind a pooler in transaction mode nothing depends on a session, and the direct address,
 * whose own `schema` counts for nothing, is where it listens. Nothing is opened before it is used; closed with the scope.
 */
export const makePostgresStore = (addresses: DatabaseAddresses) =>
  Effect.gen(function* () {
    const { url, schema, label } = databaseOf(Redacted.value(addresses.url));
    const direct =
      addresses.directUrl === null ? null : databaseOf(Redacted.value(addresses.directUrl)).url;
    const { connections } = yield* Effect.acquireRelease(
      Effect.sync(() => makeConnections({ url, direct, schema, settings: SETTINGS })),
      ({ close }) => Effect.promise(close),
    );
    const within = <A>(
      work: (connected: Connections) => Promise<A>,
      duration: Duration.Duration = GIVEN_UP_AFTER,
    ) =>
      tryStore(async () => work(await connections())).pipe(
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
    const run: Run = (work) => within((connected) => connected.run(work));
    const transaction: Run = (work) => within((connected) => connected.transaction(work));
    const longTransaction: Run = (work) =>
      within((connected) => connected.transaction(work), LONG_GIVEN_UP_AFTER);

    const oneAtATime = yield* Semaphore.make(1);
    let isReady = false;
    const ready = oneAtATime.withPermit(
      Effect.gen(function* () {
        if (isReady) return;
        const refusal = yield* transaction((sql) => makeSchema(sql, label, schema));
        if (refusal !== undefined) return yield* refusal;
        isReady = true;
      }),
    );
    const runReady: Run = (work) =>
      ready.pipe(
        Effect.catchTags({ StoreTooNew: refused, StoreCorrupt: refused }),
        Effect.andThen(run(work)),
      );

    let saidSo = false;
    const sayThatItPolls = Effect.suspend(() => {
      if (saidSo) return Effect.void;
      saidSo = true;
      return Effect.logInfo(
        "DATABASE_URL is a pooler and DATABASE_DIRECT_URL is not set: replicas poll the database for news",
      );
    });
    const listen = Effect.fnUntraced(function* (channel: string, wake: () => void) {
      const listener = yield* within(async (connected) => connected.listener);
      if (listener === null) {
        yield* sayThatItPolls;
        return false;
      }
      yield* Effect.acquireRelease(
        within(() => listener.listen(channel, wake, wake)),
        (subscription) => Effect.ignore(within(() => subscription.unlisten())),
      );
      return true;
    });
    const isPooled = within(async (connected) => connected.isPooled);
    return PostgresStore.of({
      label,
      schema,
      ready,
      run,
      runReady,
      transaction,
      longTransaction,
      listen,
      isPooled,
    });
  });

/** As `makePostgresStore`, the store that the service writes. */
export const postgresStore = (addresses: DatabaseAddresses) =>
  Layer.effect(PostgresStore, makePostgresStore(addresses));
