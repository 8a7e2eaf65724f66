import { describe, expect, test } from "bun:test";
import { Effect, Fiber, Layer } from "effect";
import { syncLeasePostgres } from "../../../adapters/postgres/sync-lease.ts";
import { address } from "../../../core/domain/address.ts";
import type { SyncReport } from "../../../core/domain/index/sync-report.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { SyncEpoch, SyncLease, type SyncOutcome } from "../../../ports/index/sync-lease.ts";
import { numberedBatch } from "../sqlite/numbered-batch.ts";
import { freshSchema, storeAt, withStore } from "./test-database.ts";

type Lease = SyncLease["Service"];

const SHORT_MS = 150;
const never: Lease = {
  hold: Effect.never,
  release: Effect.never,
  ask: () => Effect.never,
  answer: () => Effect.never,
  answerTo: () => Effect.never,
  news: Effect.never,
};

/** Runs a program with the leases of so many replicas, each with connections of its own. */
const withLeases = <A, E>(
  url: URL,
  replicas: number,
  program: (...leases: ReadonlyArray<Lease>) => Effect.Effect<A, E>,
  timeToLiveMs = 60_000,
) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const leases: Array<Lease> = [];
        for (let replica = 0; replica < replicas; replica++) {
          const layer = syncLeasePostgres({ timeToLiveMs }).pipe(Layer.provide(storeAt(url)));
          leases.push(yield* Effect.provide(SyncLease, yield* Layer.build(layer)));
        }
        return yield* program(...leases);
      }),
    ),
  );

const two = (program: (one: Lease, other: Lease) => Effect.Effect<void, StoreUnavailable>) =>
  withLeases(freshSchema(), 2, (one, other) =>
    one === undefined || other === undefined ? Effect.void : program(one, other),
  );

const report: SyncReport = {
  id: "sync-1-1",
  mode: "snapshot",
  slot: 2n ** 63n + 1n,
  escrows: { seen: 3, created: 1, updated: 0, unchanged: 1, rejected: 1 },
  merchants: { seen: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 },
  eventsAdded: 2,
  rejected: [
    { address: address("11111111111111111111111111111111"), fault: "wrong_owner" },
  ] as unknown as SyncReport["rejected"],
  startedAtMs: 5,
  durationMs: 7,
} as SyncReport;

describe("syncLeasePostgres is a lease", () =>
  describe("syncLeasePostgres", () => {
    test("of many replicas that want it at once one holds it, and goes on holding it", () =>
      withLeases(freshSchema(), 8, (...leases) =>
        Effect.gen(function* () {
          const hold = Effect.forEach(leases, (lease) => lease.hold, { concurrency: "unbounded" });
          const first = yield* hold;
          expect(first.filter((term) => term !== null)).toEqual([
            { epoch: 1n, asked: 0n, answered: 0n, snapshotAsked: 0n },
          ]);
          expect(yield* hold).toEqual(first);
        }),
      ));

    test("given up, it is free for another, whose term is a later one", () =>
      two((one, other) =>
        Effect.gen(function* () {
          expect((yield* one.hold)?.epoch).toBe(1n);
          yield* other.release;
          expect(yield* other.hold).toBeNull();
          yield* one.release;
          expect((yield* other.hold)?.epoch).toBe(2n);
          expect(yield* one.hold).toBeNull();
        }),
      ));

    test("not renewed, it is another's once its time has run out; who held it can come back in a later term", () =>
      withLeases(
        freshSchema(),
        2,
        (one = never, other = never) =>
          Effect.gen(function* () {
            yield* one.hold;
            const taken = yield* Effect.repeat(other.hold, { until: (term) => term !== null });
            expect(taken?.epoch).toBe(2n);
            const back = yield* Effect.repeat(one.hold, { until: (term) => term !== null });
            expect(back?.epoch).toBe(3n);
          }),
        SHORT_MS,
      ));

    test("a batch of an earlier term is refused whole, in the term after and from a replica without one", () => {
      const url = freshSchema();
      return withLeases(url, 2, (one = never, other = never) =>
        withStore(url, ({ reader, writer }) =>
          Effect.gen(function* () {
            const applyIn = (epoch: bigint, number: number) =>
              Effect.provideService(writer.apply(numberedBatch(number)), SyncEpoch, epoch);
            const slot = Effect.map(reader.summary, ({ mark }) => mark?.slot);
            yield* writer.apply(numberedBatch(1));
            yield* one.hold;
            expect(yield* Effect.flip(writer.apply(numberedBatch(2)))).toMatchObject({
              _tag: "StoreUnavailable",
              retryable: true,
            });
            yield* applyIn(1n, 2);
            yield* one.release;
            yield* other.hold;
            yield* Effect.flip(applyIn(1n, 3));
            expect(yield* slot).toBe(2n);
            yield* applyIn(2n, 3);
            expect(yield* slot).toBe(3n);
          }),
        ),
      );
    });

    test("requests are counted, and answered by a sync that began after them", () =>
      two((one, other) =>
        Effect.gen(function* () {
          expect(yield* other.ask("sync")).toBe(1n);
          const term = yield* one.hold;
          if (term === null) throw new Error("the lease was free");
          expect(term).toEqual({ epoch: 1n, asked: 1n, answered: 0n, snapshotAsked: 0n });
          expect(yield* other.ask("snapshot")).toBe(2n);
          yield* one.answer(term, { report });
          expect(yield* other.answerTo(1n)).toEqual({ report });
          expect(yield* other.answerTo(2n)).toBeNull();
          const both = { epoch: 1n, asked: 2n, answered: 1n, snapshotAsked: 2n };
          expect(yield* one.hold).toEqual(both);
          expect(yield* other.ask("sync")).toBe(3n);
          expect(yield* one.hold).toEqual({ ...both, asked: 3n });
          yield* one.release;
          yield* other.hold;
          yield* one.answer({ ...term, asked: 2n }, { report });
          expect(yield* other.answerTo(2n)).toBeNull();
        }),
      ));

    test("every way a sync fails is told", () =>
      two((one, other) =>
        Effect.gen(function* () {
          const failures = [
            new LedgerTimeout({ timeoutMs: 1234 }),
            new LedgerUnavailable({ retryable: true, cause: "http://node/?key=secret" }),
            new StoreUnavailable({ retryable: false, cause: "secret" }),
          ];
          for (const failure of failures) {
            const number = yield* one.ask("sync");
            const term = yield* one.hold;
            if (term !== null) yield* one.answer(term, { failure });
            const told: SyncOutcome | null = yield* other.answerTo(number);
            const { _tag } = failure;
            expect(told).toMatchObject({
              failure:
                _tag === "LedgerTimeout"
                  ? { _tag, timeoutMs: failure.timeoutMs }
                  : { _tag, retryable: failure.retryable },
            });
            expect(JSON.stringify(told)).not.toContain("secret");
          }
        }),
      ));

    test("news of requests and answers reaches the other replicas", () =>
      two((one, other) =>
        Effect.gen(function* () {
          const heard = yield* Effect.forkChild(other.news, { startImmediately: true });
          // The subscription may still be on its way: asked until it is heard.
          yield* Effect.raceFirst(
            Effect.forever(Effect.andThen(one.ask("sync"), Effect.sleep("20 millis"))),
            Fiber.join(heard),
          );
        }),
      ));
  }));
