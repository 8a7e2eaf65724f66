import { describe, expect, test } from "bun:test";
import { Effect, Stream, Tracer } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { anyMerchant, escrowLife } from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { readProgramAccount } from "../../../../core/protocol/accounts/program-account.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { FAIR, WeatheredChain } from "../../../world/weathered-chain.ts";
import { testInstance } from "../test-instance.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

describe("a sync", () => {
  const [pending, other] = fc.sample(
    escrowLife.map(([first]) => first),
    { numRuns: 2, seed: 3 },
  );
  const [merchant] = fc.sample(anyMerchant, { numRuns: 1, seed: 3 });
  if (pending === undefined || other === undefined || merchant === undefined)
    throw new Error("no sample");
  const refunded: Escrow = {
    ...pending,
    state: "Refunded",
    settledAt: pending.expiresAt,
    settledBy: "refund",
  };
  const ledgerWithOne = () => {
    const ledger = new WeatheredChain(seededRandom(1));
    ledger.create([pending]);
    return ledger;
  };

  test("reports mutated accounts with their reasons and stores none of them", () =>
    fc.assert(
      fc.asyncProperty(fc.nat({ max: 367 }), fc.integer({ min: 1, max: 255 }), async (at, flip) => {
        const ledger = ledgerWithOne();
        const data = encodeEscrowAccount(other);
        data[at] = (data[at] ?? 0) ^ flip;
        const { custodyProgram } = TEST_DEPLOYMENT;
        const account = accountOf(other.address, custodyProgram, data);
        const read = readProgramAccount(account, TEST_DEPLOYMENT)?.decoded ?? { value: null };
        if ("value" in read) return;
        await simulate(ledger, function* (index) {
          ledger.plant(other.address, data);
          const report = yield* syncWith(new SyncMemory(), 0);
          expect(report).toMatchObject({ mode: "snapshot", escrows: { created: 1 } });
          // The scan asks for a length and a discriminator, and never sees another account.
          for (const rejected of report.rejected)
            expect(rejected).toEqual({ address: other.address, fault: read.fault });
          ledger.slot += 1n;
          ledger.plant(other.address, data);
          yield* syncWith(new SyncMemory(), 1);
          const { escrows } = yield* contents(index);
          expect(escrows).toEqual([ledger.at(pending.address)]);
        });
      }),
      runs(60),
    ));

  test("reports a missing merchant and keeps its row", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      ledger.changeMerchant(merchant);
      yield* syncWith(new SyncMemory(), 0);
      ledger.slot += 10n;
      ledger.vanish(merchant.address);
      const memory = new SyncMemory(3_600_000);
      expect((yield* syncWith(memory, 1)).vanished).toEqual([]);
      yield* TestClock.adjust("2 hours");
      const report = yield* syncWith(memory, 2);
      expect(report).toMatchObject({ mode: "incremental", vanished: [merchant.address] });
      expect((yield* contents(index)).merchants).toEqual([merchant]);
    }));

  test("tells traces of the escrows that it indexes, each by itself, and of a hundred at most", () => {
    const firsts = fc.sample(
      escrowLife.map(([first]) => first),
      { numRuns: 150, seed: 4 },
    );
    const many = new Map(firsts.map((escrow) => [escrow.address, escrow]));
    const spans: Array<Tracer.Span> = [];
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options);
        spans.push(span);
        return span;
      },
    });
    return simulate(ledgerWithOne(), (_, ledger) =>
      Effect.gen(function* () {
        const memory = new SyncMemory();
        yield* syncWith(memory, 0);
        ledger.slot += 10n;
        ledger.create([other]);
        yield* syncWith(memory, 1);
        const indexed = () => spans.filter(({ name }) => name === "indexEscrow");
        expect(indexed().map(({ attributes }) => Object.fromEntries(attributes))).toEqual([
          { escrow: other.address, position: "2" },
        ]);
        const [span] = indexed();
        expect(span?.parent._tag).toBe("None");
        const traces = spans.filter(({ name }) => name === "syncIndex").map((each) => each.traceId);
        expect(span?.links.map((link) => link.span.traceId)).toEqual(traces.slice(1));
        ledger.slot += 10n;
        for (const escrow of many.values()) ledger.create([escrow]);
        expect(yield* syncWith(memory, 2)).toMatchObject({ eventsAdded: many.size });
        expect(indexed()).toHaveLength(1 + 100);
      }).pipe(Effect.withTracer(tracer)),
    );
  });

  test("holds a Pending session as it was created, whatever is captured between two syncs", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const session: Escrow = { ...other, sessionKey: other.merchant };
      ledger.create([session]);
      const created = ledger.at(session.address);
      const memory = new SyncMemory();
      yield* syncWith(memory, 0);
      ledger.slot += 10n;
      const captured = encodeEscrowAccount({
        ...created,
        released: 1n,
        deliveries: 1,
        attestation: {
          proofHash: created.taskHash,
          attestedAt: created.createdAt,
          signature: encodeBase64(new Uint8Array(64).fill(1)),
        },
      });
      ledger.put(accountOf(session.address, TEST_DEPLOYMENT.custodyProgram, captured));
      expect(yield* syncWith(memory, 1)).toMatchObject({ eventsAdded: 0, rejected: [], unseen: 0 });
      const rows = (yield* contents(index)).escrows;
      expect(rows.find(({ address }) => address === session.address)).toEqual(created);
      // A scan reads the account as it is now, and comes to the same row.
      yield* TestClock.adjust("2 hours");
      yield* syncWith(memory, 2);
      expect((yield* contents(index)).escrows).toEqual(rows);
    }));

  test("keeps the row of an escrow that was archived after it was settled", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      ledger.settle(refunded);
      yield* syncWith(new SyncMemory(), 0);
      ledger.slot += 10n;
      ledger.archive(refunded);
      ledger.weather = { ...FAIR, hidden: 1 };
      const memory = new SyncMemory();
      const nothing = { rejected: [], vanished: [], unseen: 0 };
      expect(yield* syncWith(memory, 1)).toMatchObject({ mode: "incremental", ...nothing });
      yield* TestClock.adjust("2 hours");
      expect(yield* syncWith(memory, 2)).toMatchObject(nothing);
      expect((yield* contents(index)).escrows).toEqual([ledger.at(pending.address)]);
    }));

  test("shows an escrow that was archived while it was Pending in the index as unseen until its bytes are found", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory, 0);
      ledger.slot += 10n;
      ledger.settle(refunded);
      ledger.archive(refunded);
      // The node serves the settlement, but nobody shows the transaction that archived it.
      const archiving = ledger.newest();
      const port: Ledger["Service"] = {
        ...ledger.port,
        transaction: (signature) =>
          signature === archiving ? Effect.succeed(null) : ledger.port.transaction(signature),
      };
      const report = yield* Effect.provideService(syncWith(memory, 1), Ledger, port);
      expect(report).toMatchObject({ mode: "incremental", unseen: 1, count: 2n });
      expect((yield* contents(index)).escrows).toEqual([]);
      expect(yield* index.writer.unseen(10, 0n)).toMatchObject([
        { address: pending.address, state: "Refunded", createdSeq: 1n, settledSeq: 2n },
      ]);
      yield* TestClock.adjust("11 minutes");
      expect(yield* syncWith(memory, 2)).toMatchObject({ unseen: 0, eventsAdded: 0 });
      expect((yield* contents(index)).escrows).toEqual([ledger.at(pending.address)]);
    }));

  test("takes nothing from a node that shows neither history nor accounts of the events it counts", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      yield* syncWith(new SyncMemory(), 0);
      const { mark } = yield* index.reader.summary;
      ledger.slot += 10n;
      ledger.create([other]);
      const empty = {
        ...ledger.port,
        history: () => Effect.succeed({ entries: [], keptFrom: null }),
        programAccounts: () => Stream.succeed({ slot: ledger.slot, value: [] }),
      };
      const failure = yield* Effect.flip(
        Effect.provideService(syncWith(new SyncMemory(), 1), Ledger, empty),
      );
      expect(failure).toMatchObject({
        _tag: "LedgerUnavailable",
        retryable: true,
        cause: "1 of the custody program's events are missing, the first of them 2",
      });
      expect((yield* index.reader.summary).mark).toEqual(mark);
    }));

  test.each([
    ["lags behind the index", -500n, "behind"],
    ["claims a slot that no ledger can have reached", 10n ** 12n, "ahead"],
  ])("uses no data of a node that %s", (_name, distance, side) =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      yield* syncWith(new SyncMemory(), 0);
      const { mark } = yield* index.reader.summary;
      const honest = ledger.slot;
      ledger.slot += distance;
      ledger.create([other]);
      expect(yield* Effect.flip(syncWith(new SyncMemory(), 1))).toMatchObject({
        _tag: "SlotBeyondReach",
        side,
        method: "getEpochInfo",
      });
      expect((yield* index.reader.summary).mark).toEqual(mark);
      expect((yield* contents(index)).escrows).toEqual([ledger.at(pending.address)]);
      ledger.slot = honest + 1n;
      expect((yield* syncWith(new SyncMemory(), 2)).slot).toBe(honest + 1n);
    }),
  );

  test("uses no accounts of a slot that no ledger can have reached, below a tip that is plausible", () =>
    simulate(ledgerWithOne(), function* (_, ledger) {
      const port: Ledger["Service"] = {
        ...ledger.port,
        readAccounts: (...asked) =>
          Effect.map(ledger.port.readAccounts(...asked), (read) => ({
            ...read,
            slot: read.slot + 10n ** 12n,
          })),
      };
      const sync = Effect.provideService(syncWith(new SyncMemory()), Ledger, port);
      expect(yield* Effect.flip(sync)).toMatchObject({
        _tag: "SlotBeyondReach",
        side: "ahead",
        method: "getMultipleAccounts",
      });
    }));

  test("follows the service's own ledger after it has skipped a year", () => {
    const ledger = ledgerWithOne();
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        yield* syncWith(new SyncMemory(), 0);
        ledger.slot += 78_840_000n;
        ledger.create([other]);
        expect(yield* syncWith(new SyncMemory(), 1)).toMatchObject({ slot: ledger.slot });
        expect((yield* contents(index)).escrows).toHaveLength(2);
      }).pipe(
        Effect.provideService(Instance, {
          ...testInstance(),
          deployment: TEST_DEPLOYMENT,
          runsLedger: true,
        }),
      ),
    );
  });

  test("finds what history misses by a scan, at once while the index is small", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const memory = new SyncMemory();
      const forgetful = {
        ...ledger.port,
        history: () => Effect.succeed({ entries: [], keptFrom: 0n }),
      };
      const sync = Effect.provideService(syncWith(memory), Ledger, forgetful);
      yield* sync;
      ledger.slot += 10n;
      ledger.create([other]);
      expect(yield* sync).toMatchObject({ mode: "incremental", escrows: { created: 1 } });
      const known = () => Effect.map(contents(index), ({ events }) => events);
      const id = `${other.address}:escrow_created`;
      expect((yield* known())[id]?.signature).toBeNull();
      // History comes late, and then the event gets its transaction.
      yield* TestClock.adjust("11 minutes");
      yield* syncWith(memory, 2);
      expect((yield* known())[id]).toMatchObject(ledger.references.get(id) ?? {});
    }));

  test("scans a large index only when an event has been missing for a minute, and names it until then", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory, 0);
      ledger.slot += 10n;
      ledger.create([other]);
      const large: IndexReader["Service"] = {
        ...index.reader,
        summary: Effect.map(index.reader.summary, (is) => ({ ...is, escrows: 30_000 })),
      };
      const forgetful: Ledger["Service"] = {
        ...ledger.port,
        history: () => Effect.succeed({ entries: [], keptFrom: 0n }),
      };
      const sync = syncWith(memory, 1).pipe(
        Effect.provideService(Ledger, forgetful),
        Effect.provideService(IndexReader, large),
      );
      for (let times = 0; times < 2; times++) {
        expect(yield* Effect.flip(sync)).toMatchObject({
          retryable: true,
          cause: "1 of the custody program's events are missing, the first of them 2",
        });
        yield* TestClock.adjust("20 seconds");
      }
      yield* TestClock.adjust("20 seconds");
      expect(yield* sync).toMatchObject({ mode: "incremental", count: 2n });
    }));

  test("waits for a history that lists an event late", () =>
    simulate(ledgerWithOne(), function* (_, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory, 0);
      ledger.slot += 10n;
      ledger.create([other]);
      let asked = 0;
      const port: Ledger["Service"] = {
        ...ledger.port,
        history: (address, before) => {
          const isLate = address === ledger.custodyLog.address && asked++ < 3;
          return isLate
            ? Effect.succeed({ entries: [], keptFrom: 0n })
            : ledger.port.history(address, before);
        },
        programAccounts: () => Stream.die("a scan"),
      };
      const report = yield* Effect.provideService(syncWith(memory, 1), Ledger, port);
      expect(report).toMatchObject({ mode: "incremental", count: 2n, eventsAdded: 1 });
      expect(asked).toBe(4);
    }));

  test("asks again for a transaction that the history lists and the node does not show yet", () =>
    simulate(ledgerWithOne(), function* (_, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory, 0);
      ledger.slot += 10n;
      ledger.create([other]);
      const creation = ledger.newest();
      let asked = 0;
      const port: Ledger["Service"] = {
        ...ledger.port,
        transaction: (signature) =>
          signature === creation && asked++ < 2
            ? Effect.succeed(null)
            : ledger.port.transaction(signature),
        programAccounts: () => Stream.die("a scan"),
      };
      const report = yield* Effect.provideService(syncWith(memory, 1), Ledger, port);
      expect(report).toMatchObject({ mode: "incremental", count: 2n, eventsAdded: 1 });
      expect(asked).toBe(3);
    }));

  test("scans the merchants when their history is longer than a scan is worth", () =>
    simulate(ledgerWithOne(), function* (_, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory, 0);
      ledger.slot += 1n;
      for (let n = 0; n < 600; n++) ledger.spam(n % 2 === 0);
      expect((yield* syncWith(memory, 1)).mode).toBe("snapshot");
      ledger.slot += 1000n;
      expect((yield* syncWith(memory, 2)).mode).toBe("snapshot");
      expect((yield* syncWith(memory, 3)).mode).toBe("incremental");
    }));
});
