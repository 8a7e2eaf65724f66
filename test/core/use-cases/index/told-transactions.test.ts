import { expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { OVERLAP_SLOTS } from "../../../../core/use-cases/index/sync/merchants/follow-merchants.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { anyMerchant, escrowLife } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

const { attestorProgram, custodyProgram } = TEST_DEPLOYMENT;
const [merchant] = fc.sample(anyMerchant, { numRuns: 1, seed: 3 });
const [pending, other] = fc.sample(
  escrowLife.map(([first]) => first),
  { numRuns: 2, seed: 3 },
);
if (merchant === undefined || pending === undefined || other === undefined)
  throw new Error("no sample");

/** A ledger with one escrow behind a node that lists no transaction, and scans that are counted. */
const forgetful = () => {
  const ledger = new WeatheredChain(seededRandom(1));
  ledger.create([pending]);
  const scans = { count: 0 };
  const port: Ledger["Service"] = {
    ...ledger.port,
    history: () => Effect.succeed({ entries: [], keptFrom: 0n }),
    programAccounts: (kind) =>
      Stream.suspend(() => {
        scans.count += 1;
        return ledger.port.programAccounts(kind);
      }),
  };
  const sync = (memory: SyncMemory) => Effect.provideService(syncWith(memory), Ledger, port);
  /** The newest transaction, as a node tells of it. */
  const newest = (names: typeof attestorProgram) => ({
    signature: ledger.newest(),
    slot: ledger.slot,
    names,
  });
  return { ledger, port, scans, sync, newest };
};

test("a merchant's change that the history lacks is read after 150 slots, because a node told of its transaction", () => {
  const { ledger, scans, sync, newest } = forgetful();
  return simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* sync(memory);
    ledger.slot += 1n;
    ledger.changeMerchant(merchant);
    memory.told.add(newest(attestorProgram));
    const { count } = scans;
    yield* sync(memory);
    expect((yield* contents(index)).merchants).toEqual([]);
    ledger.slot += OVERLAP_SLOTS + 1n;
    yield* sync(memory);
    yield* sync(memory);
    expect((yield* contents(index)).merchants).toEqual([merchant]);
    expect(scans.count).toBe(count);
    const { calls } = ledger;
    yield* sync(memory);
    // The identity, the tip and the config. The transaction is not read again.
    expect(ledger.calls - calls).toBe(3);
  });
});

test("a transaction that no node shows leads to a scan of the merchants, at most once an hour", () => {
  const { ledger, port, scans, newest } = forgetful();
  return simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    const blind = { ...port, transaction: () => Effect.succeed(null) };
    const sync = Effect.provideService(syncWith(memory), Ledger, blind);
    yield* sync;
    const { count } = scans;
    ledger.changeMerchant(merchant);
    for (let minute = 0; minute < 180; minute += 20) {
      memory.told.add({ ...newest(attestorProgram), slot: 1n });
      yield* sync;
      yield* sync;
      yield* TestClock.adjust("20 minutes");
      ledger.slot += 1n;
    }
    expect(scans.count - count).toBe(3);
    expect((yield* contents(index)).merchants).toEqual([merchant]);
  });
});

test("an event that the history lacks is read without a scan, because a node told of its transaction", () => {
  const { ledger, scans, sync, newest } = forgetful();
  return simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* sync(memory);
    const { count } = scans;
    ledger.slot += 10n;
    ledger.create([other]);
    memory.told.add(newest(custodyProgram));
    expect(yield* sync(memory)).toMatchObject({ mode: "incremental", count: 2n });
    expect(scans.count).toBe(count);
    expect((yield* contents(index)).escrows).toHaveLength(2);
    expect(memory.told.upTo(custodyProgram, ledger.slot, 10)).toEqual([]);
  });
});

test("a stranger's transactions, told by the thousand, cost no reads while nothing is missing", () => {
  const { ledger, sync } = forgetful();
  return simulate(ledger, function* () {
    const memory = new SyncMemory();
    yield* sync(memory);
    for (let n = 0; n < 5000; n++) {
      ledger.spam(false);
      memory.told.add({ signature: ledger.newest(), slot: ledger.slot, names: custodyProgram });
    }
    const { calls } = ledger;
    yield* sync(memory);
    expect(ledger.calls - calls).toBe(3);
  });
});
