import { indexStoreContract } from "../../contracts/index-store.ts";
import { afterAll } from "bun:test";
import { type Context, Effect, Exit, Layer, Scope } from "effect";
import { FILLED_TABLES } from "../../../adapters/postgres/index/index-schema.ts";
import { indexPostgres } from "../../../adapters/postgres/index-store.ts";
import { PostgresStore } from "../../../adapters/postgres/postgres-store.ts";
import { freshSchema, storeAt, TEST_LEDGER } from "./test-database.ts";

/**
 * Every table that an index writes. Deleting a few rows takes far less time than making, or truncating, tables with
 * their indexes.
 */
const EMPTY = [...FILLED_TABLES, "log_tile", "log_standing", "ledger"]
  .map((table) => `DELETE FROM ${table}`)
  .join("; ");

/**
 * Gives layers of empty indexes. Each has a schema to itself, which an index that is closed leaves to the next. The
 * connections are closed after the tests of the file that calls this.
 */
const emptiedIndexes = () => {
  const scope = Scope.makeUnsafe();
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)));
  const free: Array<Context.Context<PostgresStore>> = [];
  const take = Effect.gen(function* () {
    const left = free.pop();
    if (left === undefined) return yield* Layer.buildWithScope(storeAt(freshSchema()), scope);
    yield* Effect.provide(
      PostgresStore.use(({ run }) => run((sql) => sql.unsafe(EMPTY))),
      left,
    );
    return left;
  });
  return () =>
    Layer.unwrap(
      Effect.map(
        Effect.acquireRelease(take, (store) => Effect.sync(() => free.push(store))),
        (store) => indexPostgres(TEST_LEDGER).pipe(Layer.provide(Layer.succeedContext(store))),
      ),
    );
};

indexStoreContract("indexPostgres", emptiedIndexes(), 20);
