import { describe, expect, test } from "bun:test";
import { Effect, Exit, Fiber, Logger, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { makeIndexSync } from "../../../../core/use-cases/index/sync/index-sync.ts";
import { syncIndex } from "../../../../core/use-cases/index/sync/sync-index.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/sync-memory.ts";
import { EscrowIndex, StoreUnavailable } from "../../../../ports/escrow-index.ts";
import type { Instance } from "../../../../ports/instance.ts";
import {
  type AtSlot,
  Ledger,
  type LedgerFailure,
  LedgerTimeout,
  LedgerUnavailable,
} from "../../../../ports/ledger.ts";
import { escrowLife } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { SimulatedLedger } from "./simulated-ledger.ts";
import { contents, simulate as simulateAloud } from "./simulated-sync.ts";

const lives = fc.sample(
  fc.uniqueArray(
    escrowLife.map(([pending]) => pending),
    { selector: ({ address }) => address, minLength: 40, maxLength: 40 },
  ),
  { numRuns: 1, seed: 11 },
)[0];
if (lives === undefined) throw new Error("no sample");

/** A ledger on which a test creates escrows, and whose scans end as the test says. */
const world = () => {
  const ledger = new SimulatedLedger(seededRandom(4));
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
  const sync = (memory: SyncMemory) => Effect.provideService(syncIndex(1, memory), Ledger, port);
  return { ledger, port, create, scans, sync, created: () => created };
};

const simulate = <A, E>(
  ledger: SimulatedLedger,
  program: (index: EscrowIndex["Service"]) => Effect.Effect<A, E, Ledger | EscrowIndex | Instance>,
): Promise<A> => simulateAloud(ledger, (index) => Effect.provide(program(index), Logger.layer([])));

type Chunk = AtSlot<ReadonlyArray<LedgerAccount>>;

const DOWN = new LedgerUnavailable({ retryable: true, cause: new Error("node.example: oversize") });
const down = Effect.fail(DOWN);

describe("a periodic snapshot that fails", () => {
  test.each<readonly [string, Effect.Effect<never, LedgerFailure>]>([
    ["by an answer that nobody can use", down],
    ["by a node that hangs", Effect.fail(new LedgerTimeout({ timeoutMs: 60_000 }))],
  ])("%s does not stop incremental syncs", (_name, end) => {
    const { ledger, create, scans, sync } = world();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
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
          expect((yield* index.summary).checkpoint?.slot).toBe(ledger.slot);
          yield* TestClock.adjust("1 minute");
        }
        // A restarted process finds a synced index.
        create();
        expect(yield* sync(new SyncMemory())).toMatchObject({ mode: "incremental" });
        expect((yield* contents(index)).escrows).toHaveLength(12);
      }),
    );
  });

  test("is tried again after a minute, then after longer waits, up to an hour", () => {
    const { ledger, scans, sync } = world();
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
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
        yield* TestClock.adjust("53 minutes");
        expect((yield* sync(memory)).mode).toBe("snapshot");
        yield* TestClock.adjust("59 minutes");
        expect((yield* sync(memory)).mode).toBe("incremental");
        yield* TestClock.adjust("1 minute");
        expect((yield* sync(memory)).mode).toBe("snapshot");
      }),
    );
  });

  test("is logged with its cause, and shown in the activity until one completes", () => {
    const { ledger, port, create, scans } = world();
    const lines: Array<string> = [];
    const logger = Logger.layer([Logger.map(Logger.formatLogFmt, (line) => void lines.push(line))]);
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const sync = yield* makeIndexSync;
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
        const told = lines.filter((line) => line.includes("snapshot failed"));
        expect(told).toHaveLength(2);
        for (const line of told) {
          expect(line).toContain("level=WARN");
          expect(line).toContain("LedgerUnavailable");
          expect(line).toContain("node.example: oversize");
        }
        scans.end = null;
        yield* TestClock.adjust("2 minutes");
        expect((yield* sync.request).mode).toBe("snapshot");
        expect(yield* sync.activity).toMatchObject({ snapshotError: null, snapshotFailures: 0 });
      }).pipe(Effect.provideService(Ledger, port), Effect.provide(logger), Effect.scoped),
    );
  });

  test("because of the store does not stop incremental syncs", () => {
    const { ledger, create, sync } = world();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        yield* sync(memory);
        yield* sync(memory);
        create();
        create();
        yield* TestClock.adjust("60 minutes");
        const small = {
          ...index,
          apply: (batch: Parameters<typeof index.apply>[0]) =>
            batch.escrows.length > 2
              ? Effect.fail(new StoreUnavailable({ retryable: true, cause: "too much at once" }))
              : index.apply(batch),
        };
        const report = yield* Effect.provideService(sync(memory), EscrowIndex, small);
        expect(report).toMatchObject({ mode: "incremental", escrows: { created: 2 } });
        expect(memory.snapshots.lastError).toBe("StoreUnavailable");
      }),
    );
  });

  test("because of a bug is reported as one, and stops nothing after it", () => {
    const { ledger, create, scans, sync } = world();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        yield* sync(memory);
        scans.end = Effect.die(new TypeError("a bug"));
        yield* TestClock.adjust("60 minutes");
        create();
        expect(Exit.hasDies(yield* Effect.exit(sync(memory)))).toBe(true);
        expect(memory.snapshots.lastError).toBe("InternalError");
        expect((yield* index.summary).checkpoint?.slot).toBe(ledger.slot);
        expect((yield* contents(index)).escrows).toHaveLength(2);
        create();
        expect(yield* sync(memory)).toMatchObject({ mode: "incremental", escrows: { created: 1 } });
      }),
    );
  });

  test("does not count as failed when its caller leaves", () => {
    const { ledger, scans, sync } = world();
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        yield* sync(memory);
        scans.end = Effect.never;
        yield* TestClock.adjust("60 minutes");
        const before = scans.count;
        const running = yield* Effect.forkChild(sync(memory));
        while (scans.count === before) yield* Effect.yieldNow;
        yield* Fiber.interrupt(running);
        expect(memory.snapshots.failures).toBe(0);
        scans.end = null;
        expect((yield* sync(memory)).mode).toBe("snapshot");
      }),
    );
  });
});

describe("a snapshot", () => {
  test("that fails before the first completed sync fails the sync, and the next sync takes one again", () => {
    const { ledger, scans, sync } = world();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        scans.end = down;
        for (let n = 0; n < 3; n++) {
          expect(yield* Effect.flip(sync(memory))).toBe(DOWN);
          expect((yield* index.summary).checkpoint).toBeNull();
        }
        scans.end = null;
        expect(yield* sync(memory)).toMatchObject({ mode: "snapshot", escrows: { seen: 1 } });
        scans.end = down;
        expect((yield* sync(memory)).mode).toBe("incremental");
      }),
    );
  });

  test("that history makes necessary fails the sync when it fails, and counts as tried", () => {
    const { ledger, port, create, scans } = world();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        const gap = { ...port, history: () => Effect.succeed({ entries: [], completeFrom: null }) };
        const over = (one: Ledger["Service"]) =>
          Effect.provideService(syncIndex(1, memory), Ledger, one);
        yield* over(port);
        const { checkpoint } = yield* index.summary;
        create();
        scans.end = down;
        expect(yield* Effect.flip(over(gap))).toBe(DOWN);
        expect((yield* index.summary).checkpoint).toEqual(checkpoint);
        expect(memory.snapshots.failures).toBe(1);
        expect(yield* over(port)).toMatchObject({ mode: "incremental", slot: ledger.slot });
        scans.end = null;
        expect(yield* over(gap)).toMatchObject({ mode: "snapshot", escrows: { seen: 2 } });
        expect(memory.snapshots.failures).toBe(0);
      }),
    );
  });

  test("that is due replaces unreadable history, and only then", () => {
    const { ledger, port, create, scans } = world();
    const lost = { ...port, history: () => down };
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        const over = (one: Ledger["Service"]) =>
          Effect.provideService(syncIndex(1, memory), Ledger, one);
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
      }),
    );
  });

  test("that follows changes reports both, and reads every account itself", () => {
    const { ledger, port, create } = world();
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        const over = (one: Ledger["Service"]) =>
          Effect.provideService(syncIndex(1, memory), Ledger, one);
        yield* over(port);
        yield* TestClock.adjust("60 minutes");
        create();
        const { address } = lives[20] ?? { address: undefined };
        if (address === undefined) throw new Error("no sample");
        ledger.plant(address, new Uint8Array(9));
        ledger.slot += 1n;
        expect(yield* over(port)).toMatchObject({
          mode: "snapshot",
          slot: ledger.slot,
          escrows: { seen: 3, created: 1, updated: 0, unchanged: 1, rejected: 1 },
          eventsAdded: 1,
          rejected: [{ address, fault: "wrong_length" }],
        });
      }),
    );
  });

  test("that lacks or precedes what changes have just shown is refused", () => {
    const { ledger, port, create, created } = world();
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        yield* Effect.provideService(syncIndex(1, memory), Ledger, port);
        const spoil = (change: (chunk: Chunk) => Chunk) =>
          Ledger.of({
            ...port,
            programAccounts: (kind) => Stream.map(port.programAccounts(kind), change),
          });
        const without = spoil(({ slot, value }) => {
          const newest = lives[created() - 1]?.address;
          return { slot, value: value.filter(({ address }) => address !== newest) };
        });
        const older = spoil(({ slot, value }) => ({ slot: slot - 1n, value }));
        for (const [failures, spoiled] of [without, older].entries()) {
          yield* TestClock.adjust("60 minutes");
          create();
          const report = yield* Effect.provideService(syncIndex(1, memory), Ledger, spoiled);
          expect(report).toMatchObject({ mode: "incremental", escrows: { created: 1 } });
          expect(memory.snapshots.failures).toBe(failures + 1);
        }
      }),
    );
  });
});
