import { describe, expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/sync-memory.ts";
import { syncIndex } from "../../../../core/use-cases/index/sync/sync-index.ts";
import { Ledger } from "../../../../ports/ledger.ts";
import { escrowLife } from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { readProgramAccount } from "../../../../core/protocol/accounts/program-account.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { tombstoneOf } from "../../../doubles/tombstone.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { SimulatedLedger } from "./simulated-ledger.ts";
import { simulate, contents } from "./simulated-sync.ts";

describe("a sync", () => {
  const [pending, other] = fc.sample(
    escrowLife.map(([first]) => first),
    { numRuns: 2, seed: 3 },
  );
  if (pending === undefined || other === undefined) throw new Error("no sample");
  const ledgerWithOne = () => {
    const ledger = new SimulatedLedger(seededRandom(1));
    ledger.create([pending]);
    return ledger;
  };

  test("reports mutated accounts with their reasons and stores none of them", () =>
    fc.assert(
      fc.asyncProperty(fc.nat({ max: 367 }), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const ledger = ledgerWithOne();
        const data = encodeEscrowAccount(other);
        data[at] = (data[at] ?? 0) ^ flip;
        await simulate(ledger, (index) =>
          Effect.gen(function* () {
            yield* syncIndex(0, new SyncMemory());
            ledger.slot += 1n;
            ledger.plant(other.address, data);
            const { custodyProgram } = TEST_DEPLOYMENT;
            const account = accountOf(other.address, custodyProgram, data);
            const read = readProgramAccount(account, TEST_DEPLOYMENT)?.decoded ?? { value: null };
            const report = yield* syncIndex(1, new SyncMemory());
            const { escrows } = yield* contents(index);
            if ("value" in read) return expect(escrows).toHaveLength(2);
            expect(report).toMatchObject({
              mode: "incremental",
              escrows: { created: 0, rejected: 1 },
              rejected: [{ address: other.address, fault: read.fault }],
            });
            expect(escrows).toEqual([pending]);
          }),
        );
      }),
      runs(60),
    ));

  test("reports a missing account and keeps its row", () => {
    const ledger = ledgerWithOne();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        ledger.create([other]);
        yield* syncIndex(0, new SyncMemory());
        ledger.slot += 10n;
        ledger.vanish(other.address);
        const memory = new SyncMemory();
        expect((yield* syncIndex(1, memory)).vanished).toEqual([]);
        yield* TestClock.adjust("2 hours");
        const report = yield* syncIndex(2, memory);
        expect(report).toMatchObject({ mode: "snapshot", vanished: [other.address] });
        expect((yield* contents(index)).escrows).toHaveLength(2);
      }),
    );
  });

  test("keeps the row of an escrow that was archived, and neither rejects nor misses it", () => {
    const ledger = ledgerWithOne();
    const refunded: Escrow = {
      ...other,
      state: "Refunded",
      released: 0n,
      settledAt: other.expiresAt,
      settledSeq: other.createdSeq + 1n,
      attestation: null,
    };
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        ledger.create([other]);
        yield* syncIndex(0, new SyncMemory());
        const memory = new SyncMemory();
        ledger.slot += 10n;
        ledger.plant(other.address, tombstoneOf(refunded));
        const nothing = { rejected: [], vanished: [] };
        expect(yield* syncIndex(1, memory)).toMatchObject({ mode: "incremental", ...nothing });
        yield* TestClock.adjust("2 hours");
        expect(yield* syncIndex(2, memory)).toMatchObject({ mode: "snapshot", ...nothing });
        expect((yield* contents(index)).escrows).toHaveLength(2);
      }),
    );
  });

  test("refuses a list that lacks an existing account", () => {
    const ledger = ledgerWithOne();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        yield* syncIndex(0, new SyncMemory());
        const { checkpoint } = yield* index.summary;
        ledger.slot += 10n;
        const empty = {
          ...ledger.port,
          history: () => Effect.succeed({ entries: [], completeFrom: null }),
          programAccounts: () => Stream.succeed({ slot: ledger.slot, value: [] }),
        };
        const failure = yield* Effect.flip(
          Effect.provideService(syncIndex(1, new SyncMemory()), Ledger, empty),
        );
        expect(failure).toMatchObject({ _tag: "LedgerUnavailable", retryable: true });
        expect((yield* index.summary).checkpoint).toEqual(checkpoint);
      }),
    );
  });

  test.each([
    ["lags behind the index", -500n],
    ["claims a slot that no ledger can have reached", 10n ** 12n],
  ])("uses no data of a node that %s", (_name, distance) => {
    const ledger = ledgerWithOne();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        yield* syncIndex(0, new SyncMemory());
        const { checkpoint } = yield* index.summary;
        const honest = ledger.slot;
        ledger.slot += distance;
        ledger.create([other]);
        expect(yield* Effect.flip(syncIndex(1, new SyncMemory()))).toMatchObject({
          _tag: "LedgerUnavailable",
        });
        expect((yield* index.summary).checkpoint).toEqual(checkpoint);
        expect((yield* contents(index)).escrows).toEqual([pending]);
        ledger.slot = honest + 1n;
        expect((yield* syncIndex(2, new SyncMemory())).slot).toBe(honest + 1n);
      }),
    );
  });

  test("finds what history missed by a periodic snapshot", () => {
    const ledger = ledgerWithOne();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        const forgetful = {
          ...ledger.port,
          history: () => Effect.succeed({ entries: [], completeFrom: 0n }),
        };
        const sync = Effect.provideService(syncIndex(1, memory), Ledger, forgetful);
        yield* sync;
        ledger.slot += 10n;
        ledger.create([other]);
        expect(yield* sync).toMatchObject({ mode: "incremental", escrows: { created: 0 } });
        yield* TestClock.adjust("61 minutes");
        expect(yield* sync).toMatchObject({ mode: "snapshot", escrows: { created: 1 } });
        const known = () => Effect.map(contents(index), ({ events }) => events);
        const id = `${other.address}:escrow_created`;
        expect((yield* known())[id]?.signature).toBeNull();
        // History comes late, and then the event gets its transaction.
        yield* TestClock.adjust("11 minutes");
        yield* syncIndex(2, memory);
        expect((yield* known())[id]).toMatchObject(ledger.references.get(id) ?? {});
      }),
    );
  });

  test("takes a snapshot when reading the history would cost more than a snapshot", () => {
    const ledger = ledgerWithOne();
    return simulate(ledger, () =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        yield* syncIndex(0, memory);
        ledger.slot += 1n;
        for (let n = 0; n < 600; n++) ledger.spam(n % 2 === 0);
        expect((yield* syncIndex(1, memory)).mode).toBe("snapshot");
        ledger.slot += 1000n;
        expect((yield* syncIndex(2, memory)).mode).toBe("snapshot");
        expect((yield* syncIndex(3, memory)).mode).toBe("incremental");
      }),
    );
  });
});
