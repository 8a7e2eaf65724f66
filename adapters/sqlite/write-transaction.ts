import type { Database } from "bun:sqlite";
import { Effect, Exit, Semaphore } from "effect";
import type { StoreUnavailable } from "../../ports/escrow-index.ts";
import { attempt, inTurns } from "./store-failure.ts";

/**
 * Transactions on a connection that is used for nothing else, one at a time. The work is a generator and yields
 * where the process may do other things: a large transaction costs a third of many small ones, and
 * this way blocks nobody. Whatever ends the work early undoes all of it, and then calls `undone`.
 *
 * Once a transaction was asked to be durable, it and all that follow outlive a power cut (synchronous=FULL); before,
 * one can take the newest with it (NORMAL).
 */
export const writeTransactions = (db: Database, undone: () => void) => {
  const oneAtATime = Semaphore.makeUnsafe(1);
  const begin = db.query<null, []>("BEGIN IMMEDIATE");
  const commit = db.query<null, []>("COMMIT");

  const rollback = Effect.sync(() => {
    undone();
    // SQLite undoes some failures itself, such as a full disk.
    if (db.inTransaction) db.run("ROLLBACK");
  });

  return <A>(
    work: () => Generator<void, A>,
    { durable }: { readonly durable: boolean },
  ): Effect.Effect<A, StoreUnavailable> =>
    oneAtATime.withPermit(
      Effect.acquireUseRelease(
        attempt(() => {
          if (durable) db.run("PRAGMA synchronous = FULL");
          begin.run();
        }),
        () => Effect.tap(inTurns(work), () => attempt(() => commit.run())),
        (_, exit) => (Exit.isSuccess(exit) ? Effect.void : rollback),
      ),
    );
};
