import { expect, test } from "bun:test";
import { Deferred, Effect, Exit, Fiber, type Layer, Scope } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import type { SyncReport } from "../../../../core/domain/index/sync-report.ts";
import { IndexSync, type SyncActivity } from "../../../../core/use-cases/index/sync/index-sync.ts";
import type { SyncFailure } from "../../../../core/use-cases/index/sync/sync-failure.ts";
import { makeReplicatedIndexSync } from "../../../../core/use-cases/index/sync/replicated-index-sync.ts";
import { LedgerTimeout } from "../../../../ports/ledger/ledger.ts";
import { SyncEpoch, SyncLease } from "../../../../ports/index/sync-lease.ts";
import { leaseOn, makeBoard } from "./lease-in-memory.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const NOTHING = { seen: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };

const reportOf = (id: string) =>
  ({
    id,
    mode: "snapshot",
    slot: 1n,
    escrows: NOTHING,
    merchants: NOTHING,
    eventsAdded: 0,
    rejected: [],
    startedAtMs: 0,
    durationMs: 0,
  }) as unknown as SyncReport;

const WELL = { lastError: null, snapshotError: null, snapshotFailures: 0 } as const;

/** What the store has said of a failed sync. */
const FULL = { problem: "no space is left", cure: "Make room." };

/** Replicas over one board. Each of their syncs is recorded, and waits for `proceed` if that is set. */
const world = () => {
  const board = makeBoard();
  const runs: Array<{ readonly replica: number; readonly epoch: bigint }> = [];
  /** The numbers of the runs that took a snapshot. */
  const snapshots: Array<number> = [];
  /** The replicas that stand by. */
  const standingBy = new Set<number>();
  const state = {
    failing: new Set<number>(),
    proceed: null as Deferred.Deferred<void> | null,
  };
  const start = (replica: number) =>
    Effect.gen(function* () {
      let ended: Partial<SyncActivity> = WELL;
      const local: Effect.Effect<SyncReport, SyncFailure> = Effect.gen(function* () {
        runs.push({ replica, epoch: yield* SyncEpoch });
        const number = runs.length;
        if (state.proceed !== null) yield* Deferred.await(state.proceed);
        if (state.failing.has(replica)) {
          ended = {
            lastError: "StoreUnavailable",
            storeFault: FULL,
            snapshotError: "StoreUnavailable",
            snapshotFailures: 1,
          };
          return yield* new LedgerTimeout({ timeoutMs: 7 });
        }
        ended = WELL;
        return reportOf(`run ${number} of ${replica}`);
      });
      const activity = Effect.sync(() => ended as SyncActivity);
      const scope = yield* Scope.make();
      const sync = yield* makeReplicatedIndexSync(
        IndexSync.of({
          request: local,
          background: local,
          activity,
          told: () => Effect.void,
          listening: () => Effect.void,
          snapshot: Effect.suspend(() => {
            snapshots.push(runs.length + 1);
            return local;
          }),
        }),
        (isBeside) =>
          Effect.sync(() => {
            if (isBeside) standingBy.add(replica);
            else standingBy.delete(replica);
          }),
      ).pipe(Effect.provideService(SyncLease, leaseOn(board, replica)), Scope.provide(scope));
      return { sync, end: Scope.close(scope, Exit.void) };
    });
  return { board, runs, snapshots, standingBy, state, start };
};

const inVirtualTime = <A, E>(program: Effect.Effect<A, E>) =>
  Effect.runPromise(Effect.provide(program, patientClock()));

const index = indexMemory();
const program = <A, E>(body: Effect.Effect<A, E, Layer.Success<typeof index>>) =>
  inVirtualTime(Effect.provide(body, index));

test("a request at any replica is answered by the one with the lease, under its term", () =>
  program(
    Effect.gen(function* () {
      const { runs, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("10 millis");
      const second = yield* start(2);
      const asked = yield* Effect.forkChild(second.sync.request);
      yield* TestClock.adjust("300 millis");
      expect((yield* Fiber.join(asked)).id).toBe("run 1 of 1");
      expect(runs).toEqual([{ replica: 1, epoch: 1n }]);
      expect(yield* second.sync.background).toBeNull();
      const own = yield* Effect.forkChild(first.sync.background);
      yield* TestClock.adjust("300 millis");
      expect((yield* Fiber.join(own))?.id).toBe("run 2 of 1");
    }),
  ));

test("a snapshot that is asked for at any replica is taken by the one with the lease, and only then", () =>
  program(
    Effect.gen(function* () {
      const { runs, snapshots, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("10 millis");
      const second = yield* start(2);
      for (const ask of [first.sync.request, second.sync.snapshot, second.sync.request]) {
        const asked = yield* Effect.forkChild(ask);
        yield* TestClock.adjust("300 millis");
        yield* Fiber.join(asked);
      }
      expect(runs.map(({ replica }) => replica)).toEqual([1, 1, 1]);
      expect(snapshots).toEqual([2]);
    }),
  ));

test("a request during a sync is answered by the next one, and concurrent requests share it", () =>
  program(
    Effect.gen(function* () {
      const { runs, state, start } = world();
      const first = yield* start(1);
      const second = yield* start(2);
      const proceed = yield* Deferred.make<void>();
      state.proceed = proceed;
      const early = yield* Effect.forkChild(first.sync.request);
      yield* TestClock.adjust("10 millis");
      const late = yield* Effect.forkChild(
        Effect.all([second.sync.request, first.sync.request, second.sync.request], {
          concurrency: "unbounded",
        }),
      );
      yield* TestClock.adjust("10 millis");
      yield* Deferred.succeed(proceed, undefined);
      yield* TestClock.adjust("1 second");
      expect((yield* Fiber.join(early)).id).toBe("run 1 of 1");
      const ids = (yield* Fiber.join(late)).map(({ id }) => id);
      expect(new Set(ids)).toEqual(new Set(["run 2 of 1"]));
      expect(runs).toHaveLength(2);
    }),
  ));

test("a replica that ends hands over at once; one that stops renewing has a successor when its lease runs out", () =>
  program(
    Effect.gen(function* () {
      const { board, runs, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("10 millis");
      const second = yield* start(2);
      yield* first.end;
      yield* TestClock.adjust("10 millis");
      expect(board).toMatchObject({ holder: 2, epoch: 2n });
      // A third replica takes the lease and hangs.
      board.holder = 3;
      board.heldUntilMs += 3000;
      board.epoch = 3n;
      const asked = yield* Effect.forkChild(second.sync.request);
      yield* TestClock.adjust("7 seconds");
      expect((yield* Fiber.join(asked)).id).toBe("run 1 of 2");
      expect(runs).toEqual([{ replica: 2, epoch: 4n }]);
    }),
  ));

test("a failed sync is reported to the caller, and the lease passes to another replica, whose node may work", () =>
  program(
    Effect.gen(function* () {
      const { runs, state, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("10 millis");
      const second = yield* start(2);
      state.failing.add(1);
      const failed = yield* Effect.forkChild(Effect.flip(second.sync.request));
      yield* TestClock.adjust("300 millis");
      expect(yield* Fiber.join(failed)).toMatchObject({ _tag: "LedgerTimeout", timeoutMs: 7 });
      const again = yield* Effect.forkChild(first.sync.request);
      yield* TestClock.adjust("2 seconds");
      expect((yield* Fiber.join(again)).id).toBe("run 2 of 2");
      expect(runs.map(({ replica }) => replica)).toEqual([1, 2]);
    }),
  ));

test("a store that does not say who syncs fails each sync, until it answers again", () =>
  program(
    Effect.gen(function* () {
      const { board, start } = world();
      const { sync } = yield* start(1);
      yield* TestClock.adjust("10 millis");
      expect((yield* sync.activity).lastError).toBeNull();
      board.isDown = true;
      yield* TestClock.adjust("2 seconds");
      expect(yield* Effect.flip(sync.background)).toMatchObject({ _tag: "StoreUnavailable" });
      expect((yield* sync.activity).lastError).toBe("StoreUnavailable");
      board.isDown = false;
      const again = yield* Effect.forkChild(sync.background);
      yield* TestClock.adjust("300 millis");
      expect((yield* Fiber.join(again))?.id).toBe("run 1 of 1");
      expect((yield* sync.activity).lastError).toBeNull();
    }),
  ));

test("a replica says that it stands by while another one holds the lease, and not while none is known to", () =>
  program(
    Effect.gen(function* () {
      const { board, standingBy, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("2 seconds");
      board.isDown = true;
      yield* TestClock.adjust("2 seconds");
      const second = yield* start(2);
      yield* TestClock.adjust("2 seconds");
      expect(standingBy).toEqual(new Set());
      board.isDown = false;
      yield* TestClock.adjust("2 seconds");
      expect(standingBy).toEqual(new Set([board.holder === 1 ? 2 : 1]));
      yield* board.holder === 1 ? first.end : second.end;
      yield* TestClock.adjust("2 seconds");
      expect(standingBy).toEqual(new Set());
    }),
  ));

/** In steps, so that each replica hears what another one does. */
const tenths = (times: number) => Effect.repeat(TestClock.adjust("100 millis"), { times });

test("what ended a replica's own sync is told until another replica's completes, and a store's refusal with its own fault", () =>
  program(
    Effect.gen(function* () {
      const { board, state, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("10 millis");
      const second = yield* start(2);
      state.failing.add(1);
      yield* Effect.forkChild(Effect.exit(first.sync.request));
      yield* tenths(15);
      expect(board.holder).toBe(2);
      expect(yield* first.sync.activity).toMatchObject({ lastError: "StoreUnavailable" });
      board.isDown = true;
      yield* tenths(12);
      expect(yield* first.sync.activity).toMatchObject({ lastError: "StoreUnavailable" });
      expect(yield* first.sync.activity).not.toContainKey("storeFault");
      board.isDown = false;
      yield* TestClock.adjust("100 millis");
      yield* Effect.forkChild(second.sync.request);
      yield* tenths(15);
      expect(board).toMatchObject({ holder: 2, outcome: { report: { id: "run 2 of 2" } } });
      expect(yield* first.sync.activity).toEqual(WELL as unknown as SyncActivity);
    }),
  ));

test("after a failed sync the requests that came during it are left to another replica", () =>
  program(
    Effect.gen(function* () {
      const { runs, state, start } = world();
      const first = yield* start(1);
      yield* TestClock.adjust("10 millis");
      const second = yield* start(2);
      const proceed = yield* Deferred.make<void>();
      state.proceed = proceed;
      state.failing.add(1);
      yield* Effect.forkChild(Effect.exit(first.sync.request));
      yield* TestClock.adjust("10 millis");
      const late = yield* Effect.forkChild(second.sync.request);
      yield* TestClock.adjust("10 millis");
      yield* Deferred.succeed(proceed, undefined);
      yield* TestClock.adjust("3 seconds");
      expect(runs.map(({ replica }) => replica)).toEqual([1, 2]);
      expect((yield* Fiber.join(late)).id).toBe("run 2 of 2");
    }),
  ));
