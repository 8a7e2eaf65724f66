import type { Database } from "bun:sqlite";
import { Effect, Exit, Semaphore } from "effect";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { tryStore, inTurns } from "./store-failure.ts";

/**
 * Transactions on a connection that is used for nothing else, one at a time. A large transaction costs a third of many
 * small ones. So that it blocks nobody, the work is a generator, which yields where the process may do other things.
 * Whatever ends the work early undoes all of it.
 *
 * A durable transaction survives a power cut (synchronous=FULL). The newest of the others may be lost (NORMAL).
 */
export const writeTransactions = (db: Database) => {
  const oneAtATime = Semaphore.makeUnsafe(1);
  const begin = db.query<null, []>("BEGIN IMMEDIATE");
  const commit = db.query<null, []>("COMMIT");

  const rollback = Effect.sync(() => {
    // SQLite undoes some failures itself, such as a full disk.
    if (db.inTransaction) db.run("ROLLBACK");
  });

  return <A>(
    work: () => Generator<void, A>,
    { durable }: { readonly durable: boolean },
  ): Effect.Effect<A, StoreUnavailable> =>
    oneAtATime.withPermit(
      Effect.acquireUseRelease(
        tryStore(() => {
          db.run(`PRAGMA synchronous = ${durable ? "FULL" : "NORMAL"}`);
          begin.run();
        }),
        () => Effect.tap(inTurns(work), () => tryStore(() => commit.run())),
        (_, exit) => (Exit.isSuccess(exit) ? Effect.void : rollback),
      ),
    );
};

/** See `writeTransactions`. */
export type WriteTransaction = ReturnType<typeof writeTransactions>;
