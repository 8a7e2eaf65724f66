import { expect, test } from "bun:test";
import { Clock, Effect, Layer, Logger, Queue, Stream } from "effect";
import { TestClock } from "effect/testing";
import { backgroundSync } from "../../../app/syncing/syncing-side.ts";
import type { SyncReport } from "../../../core/domain/index/sync-report.ts";
import { IndexSync } from "../../../core/use-cases/index/sync/index-sync.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../ports/index/store-refusal.ts";
import { LedgerTimeout, LedgerUnavailable } from "../../../ports/ledger/ledger.ts";
import {
  type LedgerSignal,
  LedgerSignals,
  type SignalStanding,
} from "../../../ports/ledger/ledger-signals.ts";
import { NO_SIGNALS } from "../../doubles/no-signals.ts";
import { patientClock } from "../../doubles/patient-clock.ts";

const emptyIndex = Layer.mock(IndexReader, {
  summary: Effect.succeed({
    escrows: 0,
    unseen: 0,
    merchants: 0,
    mark: null,
    snapshotAtMs: null,
    revision: null,
  }),
});

/** The log lines after a few background syncs that end like this. */
const linesAfter = async (background: IndexSync["Service"]["background"]) => {
  const lines: Array<string> = [];
  const services = Layer.mergeAll(
    Layer.mock(IndexSync, { background, listening: () => Effect.void }),
    emptyIndex,
    Layer.succeed(LedgerSignals, NO_SIGNALS),
    Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]),
    patientClock(),
  );
  await Effect.runPromise(
    Effect.gen(function* () {
      yield* Effect.forkScoped(backgroundSync(2));
      yield* TestClock.adjust("3 seconds");
      yield* TestClock.adjust("3 seconds");
    }).pipe(Effect.scoped, Effect.provide(services)),
  );
  return lines;
};

test("a bug in one sync is logged and does not end the later syncs", async () => {
  let syncs = 0;
  const lines = await linesAfter(
    Effect.suspend(() => {
      syncs += 1;
      return syncs === 1 ? Effect.die(new Error("a bug")) : Effect.succeed(null);
    }),
  );
  expect(syncs).toBeGreaterThan(1);
  expect(lines.join("\n")).toContain("a bug");
});

const unavailable = (cause: unknown) => new LedgerUnavailable({ retryable: true, cause });
test.each([
  ["node.example: oversize", unavailable(new Error("node.example: oversize"))],
  ["a scan left out x", unavailable("a scan left out x")],
  ["not known", unavailable(undefined)],
  ["no answer within 4000 ms", new LedgerTimeout({ timeoutMs: 4000 })],
  ["disk full", new StoreUnavailable({ retryable: true, cause: new Error("disk full") })],
])("a sync that fails is logged once, with its cause: %s", async (cause, failure) => {
  const lines = await linesAfter(Effect.fail(failure));
  const told = lines.filter((line) => line.includes("level=WARN"));
  expect(told).toHaveLength(1);
  expect(told[0]).toContain(failure._tag);
  expect(told[0]).toContain(cause);
});

const NONE = { seen: 0, created: 0, updated: 0, unchanged: 0, rejected: 0 };

/** The report of a sync up to an event. */
const reportOf = (count: number): SyncReport => ({
  id: "sync",
  mode: "incremental",
  slot: 1n,
  count: BigInt(count),
  escrows: NONE,
  merchants: NONE,
  eventsAdded: 0,
  rejected: [],
  vanished: [],
  unseen: 0,
  startedAtMs: 0,
  durationMs: 0,
});

test("a replica that takes over syncs within a second, and by its interval from then on", async () => {
  const at: Array<number> = [];
  const services = Layer.mergeAll(
    Layer.mock(IndexSync, {
      background: Effect.gen(function* () {
        const nowMs = yield* Clock.currentTimeMillis;
        if (nowMs < 5_500) return null;
        at.push(nowMs);
        return reportOf(1);
      }),
      listening: () => Effect.void,
    }),
    emptyIndex,
    Layer.succeed(LedgerSignals, NO_SIGNALS),
    patientClock(),
  );
  await Effect.runPromise(
    Effect.gen(function* () {
      yield* Effect.forkScoped(backgroundSync(30));
      yield* TestClock.adjust("1 minute");
    }).pipe(Effect.scoped, Effect.provide(services)),
  );
  expect(at).toEqual([6_000, 36_000]);
});

test("a source that is connected and tells of no event is silent, and warned of once, until it tells of one", async () => {
  const ledger = { events: 1 };
  const signals = Effect.runSync(Queue.unbounded<LedgerSignal>());
  let standing: Effect.Effect<SignalStanding> = NO_SIGNALS.standing;
  const warnings: Array<string> = [];
  const services = Layer.mergeAll(
    Layer.mock(IndexSync, {
      background: Effect.sync(() => reportOf(ledger.events)),
      listening: (source) => Effect.sync(() => void (standing = source)),
      told: () => Effect.void,
    }),
    emptyIndex,
    Layer.succeed(LedgerSignals, {
      changes: Stream.fromQueue(signals),
      standing: Effect.succeed({ isLive: true, isSilent: false, failures: 0 }),
    }),
    Logger.layer([
      Logger.map(Logger.formatLogFmt, (line) => {
        if (line.includes("level=WARN")) warnings.push(line);
      }),
    ]),
    patientClock(),
  );
  /** Lets the source tell, its reader hear it, and the sync that it causes end. */
  const tells = Queue.offer(signals, null).pipe(
    Effect.andThen(TestClock.adjust("1 millis")),
    Effect.andThen(TestClock.adjust("1 second")),
  );
  const isSilent = Effect.suspend(() => Effect.map(standing, (now) => now.isSilent));
  await Effect.runPromise(
    Effect.gen(function* () {
      yield* Effect.forkScoped(backgroundSync(30));
      // Its connection is a signal of no certain transaction.
      yield* tells;
      yield* TestClock.adjust("10 minutes");
      expect(yield* isSilent).toBe(false);
      ledger.events = 2;
      yield* TestClock.adjust("30 seconds");
      expect([yield* isSilent, warnings.length]).toEqual([true, 0]);
      yield* TestClock.adjust("10 minutes");
      expect([yield* isSilent, warnings.length]).toEqual([true, 1]);
      expect(warnings[0]).toContain("tells of nothing");
      ledger.events = 3;
      yield* tells;
      expect(yield* isSilent).toBe(false);
      // A signal that is late by less than an interval is no reason for a warning.
      ledger.events = 4;
      yield* TestClock.adjust("30 seconds");
      yield* tells;
      yield* TestClock.adjust("10 minutes");
      expect([yield* isSilent, warnings.length]).toEqual([false, 1]);
    }).pipe(Effect.scoped, Effect.provide(services)),
  );
});
