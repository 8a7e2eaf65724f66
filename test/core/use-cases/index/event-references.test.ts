import { describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import { backfillTransactions } from "../../../../core/use-cases/index/sync/events/backfill-transactions.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { BackfillCheckpoints } from "../../../../ports/index/index-writer.ts";
import { LedgerArchive } from "../../../../ports/ledger/ledger-archive.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { escrowLife } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

const [first, second] = fc.sample(
  escrowLife.map(([pending]) => pending),
  { numRuns: 2, seed: 3 },
);
if (first === undefined || second === undefined) throw new Error("no sample");

/** The ledger's port over a node that shows transactions otherwise than its history lists them. */
const showing = (
  ledger: WeatheredChain,
  change: (transaction: LedgerTransaction) => Partial<LedgerTransaction>,
): Ledger["Service"] => ({
  ...ledger.port,
  transaction: (signature) =>
    Effect.map(ledger.port.transaction(signature), (shown) =>
      shown === null ? null : { ...shown, ...change(shown) },
    ),
});

const ledgerWithOne = () => {
  const ledger = new WeatheredChain(seededRandom(1));
  ledger.create([first]);
  return ledger;
};

/** The slots of all events, by id, as the ledger has them. */
const slotsOf = (ledger: WeatheredChain) =>
  Object.fromEntries(Array.from(ledger.references, ([id, { slot }]) => [id, slot]));

const createdOf = ({ address }: typeof first): string => `${address}:escrow_created`;

describe("an event's slot is unknown, and never wrong, while a node contradicts itself", () => {
  test("about a transaction that the history lists", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      ledger.slot += 10n;
      ledger.create([second]);
      ledger.slot += 10n;
      const forked = showing(ledger, ({ slot }) => ({ slot: slot + 5n }));
      const report = yield* Effect.provideService(syncWith(memory), Ledger, forked);
      // The row is the accounts', which the ledger's chain proves. Nothing proves the slot.
      expect(report).toMatchObject({ mode: "incremental", count: 2n });
      const { events } = yield* contents(index);
      expect(events[createdOf(second)]).toMatchObject({ signature: null, slot: null });
      yield* TestClock.adjust("11 minutes");
      yield* syncWith(memory);
      const after = (yield* contents(index)).events;
      const slots = Object.entries(after).map(([id, { slot }]) => [id, slot] as const);
      expect(Object.fromEntries(slots)).toEqual(slotsOf(ledger));
    }));

  test("about the transactions of events that a scan found", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const memory = new SyncMemory();
      const forked = showing(ledger, ({ slot }) => ({ slot: slot - 1n }));
      for (let run = 0; run < 3; run++)
        yield* Effect.provideService(syncWith(memory), Ledger, forked);
      const before = (yield* contents(index)).events[createdOf(first)];
      expect(before).toMatchObject({ signature: null, slot: null });
      yield* TestClock.adjust("11 minutes");
      yield* syncWith(memory);
      const { slot } = (yield* contents(index)).events[createdOf(first)] ?? { slot: null };
      expect(slot).toBe(slotsOf(ledger)[createdOf(first)] ?? -1n);
    }));

  test("about a transaction of which it told, outside the slots of the missing events", () =>
    simulate(ledgerWithOne(), function* (index, ledger) {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      for (const wrong of [500n, 5000n]) {
        ledger.slot += 10n;
        const life = wrong === 500n ? first : second;
        if (wrong === 500n)
          ledger.settle({
            ...life,
            state: "Refunded",
            settledAt: life.expiresAt,
            settledBy: "refund",
          });
        else ledger.create([life]);
        memory.told.add({
          signature: ledger.newest(),
          slot: ledger.slot,
          names: TEST_DEPLOYMENT.custodyProgram,
        });
        const lying = {
          ...showing(ledger, () => ({ slot: wrong })),
          history: () => Effect.succeed({ entries: [], keptFrom: 0n }),
        };
        yield* Effect.provideService(syncWith(memory), Ledger, lying);
      }
      const { events } = yield* contents(index);
      expect(events[createdOf(second)]).toMatchObject({ signature: null, slot: null });
      expect(events[`${first.address}:escrow_refunded`]).toMatchObject({ slot: null });
    }));

  test("about the transactions of old events, on a walk through the whole history", () => {
    const ledger = ledgerWithOne();
    ledger.spam(false);
    const cursor = ledger.newest();
    const hiding = { ...ledger.port, transaction: () => Effect.succeed(null) };
    const forked = showing(ledger, ({ slot }) => ({ slot: slot + 1n }));
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        yield* Effect.provideService(syncWith(new SyncMemory()), Ledger, hiding);
        const found: Array<unknown> = [];
        for (const port of [forked, ledger.port]) {
          yield* Effect.provideService(backfillTransactions(), Ledger, port);
          found.push((yield* contents(index)).events[createdOf(first)]?.slot);
        }
        expect(found).toEqual([null, slotsOf(ledger)[createdOf(first)]]);
      }).pipe(
        Effect.provideService(LedgerArchive, { transactionsOf: () => Effect.succeed(null) }),
        Effect.provideService(BackfillCheckpoints, {
          load: Effect.succeed({ way: "history" as const, cursor, isDone: false }),
          save: () => Effect.void,
        }),
      ),
    );
  });
});
