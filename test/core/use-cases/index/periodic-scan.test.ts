import { describe, expect, test } from "bun:test";
import { Effect, Exit, Fiber, Logger, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { merchantAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { makeIndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import {
  type AtSlot,
  Ledger,
  type LedgerFailure,
  LedgerTimeout,
  LedgerUnavailable,
} from "../../../../ports/ledger/ledger.ts";
import { anyMerchant, escrowLife } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

const lives = fc.sample(
  fc.uniqueArray(
    escrowLife.map(([pending]) => pending),
    { selector: ({ address }) => address, minLength: 40, maxLength: 40 },
  ),
  { numRuns: 1, seed: 11 },
)[0];
const [merchant] = fc.sample(anyMerchant, { numRuns: 1, seed: 1 });
if (lives === undefined || merchant === undefined) throw new Error("no sample");

/** A ledger on which a test creates escrows, and whose scans end as the test says. */
const world = () => {
  const ledger = new WeatheredChain(seededRandom(4));
  let created = 0;
  const create = () => {
    const pending = lives[created++];
    if (pending === undefined) throw new Error("no more escrows");
    ledger.create([pending]);
    ledger.slot += 1n;
  };
  create();
  const scans = { count: 0, end: null as Effect.Effect<never, LedgerFailure> | null };
  const port = Ledger.of({
    ...ledger.port,
    programAccounts: (kind) => {
      scans.count += 1;
      const whole = ledger.port.programAccounts(kind);
      // Some accounts have come before the node breaks off.
      return scans.end === null
        ? whole
        : Stream.concat(Stream.take(whole, 1), Stream.fromEffect(scans.end));
    },
  });
  const sync = (memory: SyncMemory) => Effect.provideService(syncWith(memory), Ledger, port);
  return { ledger, port, create, scans, sync };
};

/** An interval as an operator may set it. */
const HOUR_MS = 3_600_000;

type Chunk = AtSlot<ReadonlyArray<LedgerAccount>>;

const DOWN = new LedgerUnavailable({ retryable: true, cause: new Error("node.example: oversize") });
const down = Effect.fail(DOWN);

test("without an interval, no scan runs in a week of syncs", () => {
  const { create, scans, sync, ledger } = world();
  return simulate(ledger, function* () {
    const memory = new SyncMemory();
    yield* sync(memory);
    scans.count = 0;
    for (let day = 0; day < 7; day++) {
      yield* TestClock.adjust("1 day");
      create();
      expect(yield* sync(memory)).toMatchObject({ mode: "incremental", eventsAdded: 1 });
    }
    expect(scans.count).toBe(0);
  });
});

test("a merchant that history did not show comes with the first escrow that names it", () => {
  const { ledger, port, sync } = world();
  const named = lives[1];
  if (named === undefined) throw new Error("no more escrows");
  const shown = {
    ...merchant,
    wallet: named.merchant,
    ...merchantAddress(TEST_DEPLOYMENT, named.merchant),
  };
  const untold: Ledger["Service"] = {
    ...port,
    history: (address, before) =>
      address === TEST_DEPLOYMENT.attestorProgram
        ? Effect.succeed({ entries: [], keptFrom: 0n })
        : port.history(address, before),
  };
  return simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* sync(memory);
    ledger.changeMerchant(shown);
    ledger.slot += 1n;
    yield* Effect.provideService(syncWith(memory), Ledger, untold);
    expect((yield* contents(index)).merchants).toEqual([]);
    ledger.create([named]);
    ledger.slot += 1n;
    const report = yield* Effect.provideService(syncWith(memory), Ledger, untold);
    expect(report).toMatchObject({ mode: "incremental", merchants: { created: 1 } });
    expect((yield* contents(index)).merchants).toEqual([shown]);
  });
});

describe("a periodic scan of the merchants that fails", () => {
  test.each<readonly [string, Effect.Effect<never, LedgerFailure>]>([
    ["by an answer that nobody can use", down],
    ["by a node that hangs", Effect.fail(new LedgerTimeout({ timeoutMs: 60_000 }))],
  ])("%s does not stop incremental syncs", (_name, end) => {
    const { ledger, create, scans, sync } = world();
    return simulate(ledger, function* (index) {
      const memory = new SyncMemory(HOUR_MS);
      expect(yield* sync(memory)).toMatchObject({ mode: "snapshot", escrows: { created: 1 } });
      expect(yield* sync(memory)).toMatchObject({ mode: "incremental" });
      scans.end = end;
      yield* TestClock.adjust("61 minutes");
      for (let minute = 0; minute < 10; minute++) {
        create();
        expect(yield* sync(memory)).toMatchObject({
          mode: "incremental",
          slot: ledger.slot,
          escrows: { seen: 1, created: 1, rejected: 0 },
          eventsAdded: 1,
          vanished: [],
        });
        expect((yield* index.reader.summary).mark?.slot).toBe(ledger.slot);
        yield* TestClock.adjust("1 minute");
      }
      // A restarted process finds a synced index.
      create();
      expect(yield* sync(new SyncMemory(HOUR_MS))).toMatchObject({ mode: "incremental" });
      expect((yield* contents(index)).escrows).toHaveLength(12);
    });
  });

  test("is tried again after a minute, then after longer waits, up to an hour", () => {
    const { ledger, scans, sync } = world();
    return simulate(ledger, function* () {
      const memory = new SyncMemory(HOUR_MS);
      yield* sync(memory);
      scans.end = down;
      scans.count = 0;
      const tries: Array<number> = [];
      for (let minute = 1; minute <= 250; minute++) {
        yield* TestClock.adjust("1 minute");
        const before = scans.count;
        yield* sync(memory);
        if (scans.count > before) tries.push(minute);
      }
      expect(tries).toEqual([60, 61, 63, 67, 75, 91, 123, 183, 243]);
      scans.end = null;
      const scansAfter = (minutes: number) =>
        Effect.gen(function* () {
          scans.count = 0;
          yield* TestClock.adjust(`${minutes} minutes`);
          yield* sync(memory);
          return scans.count;
        });
      expect([yield* scansAfter(53), yield* scansAfter(59), yield* scansAfter(1)]).toEqual([
        1, 0, 1,
      ]);
    });
  });

  test("is logged with its cause, and shown in the activity until one completes", () => {
    const { ledger, port, create, scans } = world();
    const lines: Array<string> = [];
    const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]);
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const sync = yield* makeIndexSync(undefined, { scanEveryMs: HOUR_MS });
        yield* sync.request;
        expect(yield* sync.activity).toMatchObject({ snapshotError: null, snapshotFailures: 0 });
        scans.end = down;
        yield* TestClock.adjust("60 minutes");
        create();
        yield* sync.request;
        const failing = { lastError: null, running: false, snapshotError: "LedgerUnavailable" };
        expect(yield* sync.activity).toMatchObject({ ...failing, snapshotFailures: 1 });
        yield* sync.request;
        yield* TestClock.adjust("1 minute");
        yield* sync.request;
        expect(yield* sync.activity).toMatchObject({ ...failing, snapshotFailures: 2 });
        const told = lines.filter((line) => line.includes("scan of merchants failed"));
        expect(told).toHaveLength(2);
        for (const line of told) {
          expect(line).toContain("level=WARN");
          expect(line).toContain("LedgerUnavailable");
          expect(line).toContain("node.example: oversize");
        }
        scans.end = null;
        yield* TestClock.adjust("2 minutes");
        yield* sync.request;
        expect(yield* sync.activity).toMatchObject({ snapshotError: null, snapshotFailures: 0 });
      }).pipe(Effect.provideService(Ledger, port), Effect.provide(logger), Effect.scoped),
    );
  });

  test("because of the store does not stop incremental syncs", () => {
    const { ledger, port, create, sync } = world();
    return simulate(ledger, function* (index) {
      const memory = new SyncMemory(HOUR_MS);
      yield* sync(memory);
      yield* sync(memory);
      create();
      ledger.changeMerchant(merchant);
      yield* TestClock.adjust("60 minutes");
      const small: IndexWriter["Service"] = {
        ...index.writer,
        apply: (changes) =>
          changes.mark === null && changes.merchants.length > 0
            ? Effect.fail(new StoreUnavailable({ retryable: true, cause: "too much at once" }))
            : index.writer.apply(changes),
      };
      const { attestorProgram } = TEST_DEPLOYMENT;
      const untold: Ledger["Service"] = {
        ...port,
        history: (address, before) =>
          address === attestorProgram
            ? Effect.succeed({ entries: [], keptFrom: 0n })
            : port.history(address, before),
      };
      const report = yield* syncWith(memory).pipe(
        Effect.provideService(IndexWriter, small),
        Effect.provideService(Ledger, untold),
      );
      expect(report).toMatchObject({ mode: "incremental", escrows: { created: 1 } });
      expect(memory.snapshots.lastError).toBe("StoreUnavailable");
      yield* TestClock.adjust("1 minute");
      yield* Effect.provideService(syncWith(memory), Ledger, untold);
      expect((yield* contents(index)).merchants).toEqual([merchant]);
    });
  });

  test("because of a bug is reported as one, and stops nothing after it", () => {
    const { ledger, create, scans, sync } = world();
    return simulate(ledger, function* (index) {
      const memory = new SyncMemory(HOUR_MS);
      yield* sync(memory);
      scans.end = Effect.die(new TypeError("a bug"));
      yield* TestClock.adjust("60 minutes");
      create();
      expect(Exit.hasDies(yield* Effect.exit(sync(memory)))).toBe(true);
      expect(memory.snapshots.lastError).toBe("InternalError");
      expect((yield* index.reader.summary).mark?.slot).toBe(ledger.slot);
      expect((yield* contents(index)).escrows).toHaveLength(2);
      create();
      expect(yield* sync(memory)).toMatchObject({ mode: "incremental", escrows: { created: 1 } });
    });
  });

  test("does not count as failed when its caller leaves", () => {
    const { ledger, scans, sync } = world();
    return simulate(ledger, function* () {
      const memory = new SyncMemory(HOUR_MS);
      yield* sync(memory);
      scans.end = Effect.never;
      yield* TestClock.adjust("60 minutes");
      const before = scans.count;
      const running = yield* Effect.forkChild(sync(memory));
      while (scans.count === before) yield* Effect.yieldNow;
      yield* Fiber.interrupt(running);
      expect(memory.snapshots.failures).toBe(0);
      scans.end = null;
      const { count } = scans;
      yield* sync(memory);
      expect(scans.count).toBe(count + 1);
    });
  });
});

describe("a snapshot", () => {
  test("that fails before the first completed sync fails the sync, and the next sync takes one again", () => {
    const { ledger, scans, sync } = world();
    return simulate(ledger, function* (index) {
      const memory = new SyncMemory(HOUR_MS);
      scans.end = down;
      for (let n = 0; n < 3; n++) {
        expect(yield* Effect.flip(sync(memory))).toBe(DOWN);
        expect((yield* index.reader.summary).mark).toBeNull();
      }
      scans.end = null;
      expect(yield* sync(memory)).toMatchObject({ mode: "snapshot", escrows: { seen: 1 } });
      scans.end = down;
      expect((yield* sync(memory)).mode).toBe("incremental");
    });
  });

  test("of merchants that history makes necessary fails the sync when it fails, and counts as tried", () => {
    const { ledger, port, create, scans } = world();
    return simulate(ledger, function* (index) {
      const memory = new SyncMemory(HOUR_MS);
      const { attestorProgram } = TEST_DEPLOYMENT;
      const gap: Ledger["Service"] = {
        ...port,
        history: (address, before) =>
          address === attestorProgram
            ? Effect.succeed({ entries: [], keptFrom: null })
            : port.history(address, before),
      };
      const over = (one: Ledger["Service"]) => Effect.provideService(syncWith(memory), Ledger, one);
      yield* over(port);
      create();
      scans.end = down;
      expect(yield* Effect.flip(over(gap))).toBe(DOWN);
      // The events are complete without the merchants.
      expect((yield* index.reader.summary).mark?.count).toBe(2n);
      expect(memory.snapshots.failures).toBe(1);
      expect(yield* over(port)).toMatchObject({ mode: "incremental", slot: ledger.slot });
      scans.end = null;
      expect(yield* over(gap)).toMatchObject({ mode: "snapshot", count: 2n });
      expect(memory.snapshots.failures).toBe(0);
    });
  });

  test("of merchants that is due replaces unreadable history, and only then", () => {
    const { ledger, port, create, scans } = world();
    const lost = { ...port, history: () => down };
    return simulate(ledger, function* () {
      const memory = new SyncMemory(HOUR_MS);
      const over = (one: Ledger["Service"]) => Effect.provideService(syncWith(memory), Ledger, one);
      yield* over(port);
      create();
      expect(yield* Effect.flip(over(lost))).toBe(DOWN);
      yield* TestClock.adjust("60 minutes");
      expect(yield* over(lost)).toMatchObject({ mode: "snapshot", escrows: { created: 1 } });
      const { count } = scans;
      yield* TestClock.adjust("60 minutes");
      scans.end = down;
      expect(yield* Effect.flip(over(lost))).toBe(DOWN);
      expect(yield* Effect.flip(over(lost))).toBe(DOWN);
      // One scan failed, and there is none in the next minute.
      expect(scans.count).toBe(count + 1);
    });
  });

  test("of merchants that lacks or precedes what the index has is refused", () => {
    const { ledger, port } = world();
    return simulate(ledger, function* (index) {
      const memory = new SyncMemory(HOUR_MS);
      ledger.changeMerchant(merchant);
      yield* Effect.provideService(syncWith(memory), Ledger, port);
      const spoil = (change: (chunk: Chunk) => Chunk) =>
        Ledger.of({
          ...port,
          programAccounts: (kind) => Stream.map(port.programAccounts(kind), change),
        });
      const without = spoil(({ slot }) => ({ slot, value: [] }));
      const older = spoil(({ slot, value }) => ({ slot: slot - 1n, value }));
      for (const [failures, spoiled] of [without, older].entries()) {
        yield* TestClock.adjust("60 minutes");
        const report = yield* Effect.provideService(syncWith(memory), Ledger, spoiled);
        expect(report).toMatchObject({ mode: "incremental", vanished: [] });
        expect(memory.snapshots.failures).toBe(failures + 1);
      }
      expect((yield* contents(index)).merchants).toEqual([merchant]);
    });
  });
});
