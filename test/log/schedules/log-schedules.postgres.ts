import { test } from "bun:test";
import { Effect, Layer } from "effect";
import { aside, dumpsOf, freshSchema, indexAt } from "../../adapters/postgres/test-database.ts";
import { leaseOn, makeBoard } from "../../core/use-cases/index/lease-in-memory.ts";
import { manySchedules, whole } from "./many-schedules.ts";
import type { StoreKind } from "./schedule-stores.ts";

/**
 * A schema for each schedule, with connections of its own for each process. The lease's time is the schedule's; its
 * terms stand in the database, which checks them in each write.
 */
const inPostgres: StoreKind = {
  name: "Postgres",
  mostReplicas: 3,
  open: Effect.fnUntraced(function* () {
    const url = freshSchema();
    const board = makeBoard();
    let told = board.epoch;
    const tellTerm = Effect.suspend(() => {
      if (told === board.epoch) return Effect.void;
      told = board.epoch;
      return Effect.promise(() => aside(url, `UPDATE sync_lease SET epoch = ${board.epoch}`));
    });
    const { keep, restore } = yield* dumpsOf(url);
    // There is a schema to be dumped before the first process opens it.
    yield* Effect.scoped(Layer.build(indexAt(url))).pipe(Effect.orDie);
    return {
      layer: indexAt(url),
      guard: (index) => index,
      leaseOf: (replica) => {
        const lease = leaseOn(board, replica);
        return { ...lease, hold: Effect.tap(lease.hold, tellTerm) };
      },
      backup: {
        keep,
        // The dump has an earlier term.
        restore: Effect.tap(restore, () =>
          Effect.sync(() => {
            told = -1n;
          }),
        ),
      },
    };
  }),
};

const SCHEDULES = whole("LOG_SCHEDULES", 2);

test(`${SCHEDULES} schedules over Postgres: every store's tree is the ledger's, and so is every signed root`, () =>
  manySchedules(
    SCHEDULES,
    () => inPostgres,
    (environment) => `${environment} bun run test:more postgres log-schedules`,
  ));
