import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import fc from "fast-check";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { syncIndex } from "../../../../core/use-cases/index/sync/sync-index.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { anyMerchant, escrowLife } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

const { attestorProgram, custodyProgram } = TEST_DEPLOYMENT;
const [merchant] = fc.sample(anyMerchant, { numRuns: 1, seed: 5 });
const [first, second] = fc.sample(
  escrowLife.map(([pending]) => pending),
  { numRuns: 2, seed: 5 },
);
if (merchant === undefined || first === undefined || second === undefined)
  throw new Error("no sample");

const chain = () => {
  const ledger = new WeatheredChain(seededRandom(2));
  ledger.create([first]);
  /** A sync that nobody waits for, and the calls that it made. */
  const unawaited = (memory: SyncMemory, port: Ledger["Service"] = ledger.port) =>
    Effect.gen(function* () {
      const { calls } = ledger;
      const sync = syncIndex(2, memory, () => Effect.void, false);
      const exit = yield* Effect.exit(Effect.provideService(sync, Ledger, port));
      return { exit, calls: ledger.calls - calls };
    });
  const told = (names: typeof attestorProgram, slot = ledger.slot) => ({
    signature: ledger.newest(),
    slot,
    names,
  });
  return { ledger, unawaited, told };
};

/** A memory whose process has synced once and followed the merchants. */
const begun = Effect.gen(function* () {
  const memory = new SyncMemory();
  yield* syncWith(memory);
  yield* syncWith(memory);
  return memory;
});

test("of an unchanged ledger one read is made, and the mark moves on", () => {
  const { ledger, unawaited } = chain();
  return simulate(ledger, function* ({ reader }) {
    const memory = yield* begun;
    ledger.slot += 40n;
    expect((yield* unawaited(memory)).calls).toBe(1);
    expect((yield* reader.summary).mark?.slot).toBe(ledger.slot);
  });
});

test("an event of which a node told costs its transaction, one read and the identity, and an unknown merchant's read", () => {
  const { ledger, unawaited, told } = chain();
  return simulate(ledger, function* (index) {
    const memory = yield* begun;
    ledger.slot += 10n;
    ledger.create([second]);
    memory.told.add(told(custodyProgram));
    const { exit, calls } = yield* unawaited(memory);
    expect([Exit.isSuccess(exit), calls]).toEqual([true, 4]);
    const { events, escrows } = yield* contents(index);
    expect(escrows).toHaveLength(2);
    const reference = ledger.references.get(`${second.address}:escrow_created`);
    expect(events[`${second.address}:escrow_created`]).toMatchObject(reference ?? {});
  });
});

test("an event of which no node told is found all the same", () => {
  const { ledger, unawaited } = chain();
  return simulate(ledger, function* (index) {
    const memory = yield* begun;
    ledger.slot += 10n;
    ledger.create([second]);
    expect(Exit.isSuccess((yield* unawaited(memory)).exit)).toBe(true);
    expect((yield* contents(index)).escrows).toHaveLength(2);
  });
});

test("nothing is written of a changed ledger whose node does not show the genesis hash", () => {
  const { ledger, unawaited, told } = chain();
  return simulate(ledger, function* (index) {
    const memory = yield* begun;
    ledger.slot += 10n;
    ledger.create([second]);
    memory.told.add(told(custodyProgram));
    const wrong = new LedgerUnavailable({
      retryable: true,
      cause: "another ledger",
      fault: {
        node: null,
        method: "getGenesisHash",
        kind: "wrong_ledger",
        httpStatus: null,
        rpcCode: null,
        retryAfterMs: null,
        cure: "",
      },
    });
    const port = { ...ledger.port, confirmIdentity: Effect.fail(wrong) };
    expect(Exit.isFailure((yield* unawaited(memory, port)).exit)).toBe(true);
    expect((yield* contents(index)).escrows).toHaveLength(1);
  });
});

test("told transactions of an invented slot, or too many of them, cost no calls", () => {
  const { ledger, unawaited, told } = chain();
  return simulate(ledger, function* () {
    const memory = yield* begun;
    ledger.slot += 10n;
    memory.told.add(told(custodyProgram, 2n ** 50n));
    expect((yield* unawaited(memory)).calls).toBe(1);
    for (let n = 0; n < 9; n++) {
      ledger.spam(false);
      memory.told.add(told(custodyProgram));
    }
    expect((yield* unawaited(memory)).calls).toBe(1);
  });
});

test("after transactions that changed nothing, the count is read before the next ones", () => {
  const { ledger, unawaited, told } = chain();
  return simulate(ledger, function* () {
    const memory = yield* begun;
    const costs: Array<number> = [];
    for (let n = 0; n < 3; n++) {
      ledger.slot += 1n;
      ledger.spam(false);
      memory.told.add(told(custodyProgram));
      costs.push((yield* unawaited(memory)).calls);
    }
    expect(costs).toEqual([2, 1, 1]);
  });
});

test("a merchant's change of which a node told is read at once, and any other after 450 slots", () => {
  const { ledger, unawaited, told } = chain();
  return simulate(ledger, function* (index) {
    const memory = yield* begun;
    ledger.slot += 1n;
    ledger.changeMerchant(merchant);
    memory.told.add(told(attestorProgram));
    expect((yield* unawaited(memory)).calls).toBe(3);
    expect((yield* contents(index)).merchants).toEqual([merchant]);
    const renamed = { ...merchant, updatedAt: merchant.updatedAt + 1n };
    ledger.slot += 1n;
    ledger.changeMerchant(renamed);
    ledger.slot += 440n;
    yield* unawaited(memory);
    expect((yield* contents(index)).merchants).toEqual([merchant]);
    ledger.slot += 10n;
    yield* unawaited(memory);
    expect((yield* contents(index)).merchants).toEqual([renamed]);
    // A process that begins anew knows nothing of that, and goes back as far.
    const again = { ...renamed, updatedAt: renamed.updatedAt + 1n };
    ledger.slot += 1n;
    ledger.changeMerchant(again);
    ledger.slot += 440n;
    yield* unawaited(memory);
    yield* unawaited(new SyncMemory());
    expect((yield* contents(index)).merchants).toEqual([again]);
  });
});

test("merchants of more transactions than are read at once come from the history", () => {
  const { ledger, unawaited, told } = chain();
  return simulate(ledger, function* (index) {
    const memory = yield* begun;
    const renamed = { ...merchant, updatedAt: merchant.updatedAt + 20n };
    for (let n = 0n; n <= 20n; n++) {
      ledger.slot += 1n;
      ledger.changeMerchant({ ...merchant, updatedAt: merchant.updatedAt + n });
      memory.told.add(told(attestorProgram));
    }
    yield* unawaited(memory);
    expect((yield* contents(index)).merchants).toEqual([renamed]);
  });
});
