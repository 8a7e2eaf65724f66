import { expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { RebuildApproval } from "../../../../core/domain/index/sync-report.ts";
import { custodyConfigAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { RebuildApprovals } from "../../../../ports/index/index-news.ts";
import { Ledger, LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { escrowLives } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { expectMarked } from "./expect-marked.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { type Ports, simulate, syncWith } from "./simulated-sync.ts";

const [lives] = fc.sample(escrowLives(6, 6), { numRuns: 1, seed: 5 });

/** Two ledgers of three events, the last two of which differ, and one event more in the second. */
const twoHistories = () => {
  const [ledger, rewritten] = [5, 5].map((seed) => new WeatheredChain(seededRandom(seed)));
  if (ledger === undefined || rewritten === undefined || lives === undefined)
    throw new Error("no sample");
  for (const at of [0, 1, 2]) ledger.create(lives[at] ?? fail());
  for (const at of [0, 3, 4, 5]) rewritten.create(lives[at] ?? fail());
  rewritten.slot = ledger.slot + 10n;
  return { ledger, rewritten };
};
const fail = (): never => {
  throw new Error("no sample");
};

/** What nodes show of the custody config that follow these ledgers. */
const nodesOf = (ledgers: ReadonlyArray<WeatheredChain>): LedgerNodes["Service"] => ({
  count: ledgers.length,
  readFromEach: (address) =>
    Effect.sync(() => {
      expect(address).toBe(custodyConfigAddress(TEST_DEPLOYMENT).address);
      return ledgers.map((one) => ({ slot: one.slot, value: one.accountOf(address) }));
    }),
});

/** Syncs from another history until scans have proved it. */
const syncOf = (
  rewritten: WeatheredChain,
  memory: SyncMemory,
  confirmed: {
    readonly nodes?: ReadonlyArray<WeatheredChain>;
    readonly approval?: RebuildApproval;
  } = {},
): Effect.Effect<unknown, unknown, Ports> => {
  const sync = syncWith(memory).pipe(
    Effect.provideService(Ledger, rewritten.port),
    Effect.provideService(RebuildApprovals, Effect.succeed(confirmed.approval ?? null)),
  );
  return confirmed.nodes === undefined
    ? sync
    : Effect.provideService(sync, LedgerNodes, nodesOf(confirmed.nodes));
};

test("another whole history of the only node never replaces a proved index, and is named", async () => {
  const { ledger, rewritten } = twoHistories();
  await simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    for (let n = 0; n < 12; n++) {
      expect(yield* Effect.flip(syncOf(rewritten, memory))).toMatchObject({ retryable: true });
      yield* expectMarked(index, ledger);
      yield* TestClock.adjust("15 minutes");
    }
    expect(memory.contradiction).toEqual({
      kind: "another_history",
      index: { count: 3n, root: ledger.rootAt(3n) ?? fail() },
      ledger: { count: 4n, root: rewritten.rootAt(4n) ?? fail() },
      firstDifference: { from: 1n, to: 3n },
    });
    // The node was wrong, and shows the ledger again.
    ledger.slot = rewritten.slot + 1n;
    yield* syncWith(memory);
    expect(memory.contradiction).toBeNull();
    yield* expectMarked(index, ledger);
  });
});

test("a contradiction that nobody has confirmed is not proved again at once", async () => {
  const { ledger, rewritten } = twoHistories();
  await simulate(ledger, function* () {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    let scans = 0;
    const port: Ledger["Service"] = {
      ...rewritten.port,
      programAccounts: (kind) => {
        scans += 1;
        return rewritten.port.programAccounts(kind);
      },
    };
    const scansOf = (syncs: number) =>
      Effect.gen(function* () {
        const before = scans;
        for (let n = 0; n < syncs; n++)
          yield* Effect.flip(
            syncWith(memory).pipe(Effect.provideService(Ledger, port)) as Effect.Effect<
              unknown,
              unknown,
              Ports
            >,
          );
        return scans - before;
      });
    const first = yield* scansOf(4);
    expect(yield* scansOf(4)).toBeLessThan(first);
    yield* TestClock.adjust("11 minutes");
    expect(yield* scansOf(4)).toBe(first);
  });
});

test.each([
  ["two nodes that show it", true, 2],
  ["one of two nodes that shows it", false, 1],
])("of several nodes, %s replace the index: %p", async (_name, isReplaced, showing) => {
  const { ledger, rewritten } = twoHistories();
  const nodes = [rewritten, showing === 2 ? rewritten : ledger];
  await simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    for (let n = 0; n < 3; n++) yield* Effect.flip(syncOf(rewritten, memory, { nodes }));
    const last = syncOf(rewritten, memory, { nodes });
    if (isReplaced) {
      expect(yield* last).toMatchObject({ mode: "snapshot", count: 4n });
      yield* expectMarked(index, rewritten);
      expect(memory.contradiction).toBeNull();
    } else {
      yield* Effect.flip(last);
      yield* expectMarked(index, ledger);
      expect(memory.contradiction).toMatchObject({ kind: "another_history" });
    }
  });
});

test("the operator's approval replaces the index at the root that it names, by the history that it names", async () => {
  const { ledger, rewritten } = twoHistories();
  const replaces = ledger.rootAt(3n) ?? fail();
  const by = { count: 4n, root: rewritten.rootAt(4n) ?? fail() };
  const others: ReadonlyArray<RebuildApproval> = [
    { replaces: by.root, by },
    { replaces, by: { count: 4n, root: replaces } },
    { replaces, by: { count: 1n, root: rewritten.rootAt(1n) ?? fail() } },
  ];
  for (const approval of [...others, { replaces, by }])
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      yield* syncWith(memory);
      for (let n = 0; n < 3; n++) yield* Effect.flip(syncOf(rewritten, memory));
      if (others.includes(approval)) {
        yield* Effect.flip(syncOf(rewritten, memory, { approval }));
        yield* expectMarked(index, ledger);
      } else {
        expect(yield* syncOf(rewritten, memory, { approval })).toMatchObject({ count: 4n });
        yield* expectMarked(index, rewritten);
      }
    });
});

test("an earlier state of the ledger takes the operator's approval, also with two nodes", async () => {
  const { ledger } = twoHistories();
  const earlier = new WeatheredChain(seededRandom(5));
  earlier.create(lives?.[0] ?? fail());
  earlier.slot = ledger.slot + 10n;
  const nodes = [earlier, earlier];
  const approval = {
    replaces: ledger.rootAt(3n) ?? fail(),
    by: { count: 1n, root: earlier.rootAt(1n) ?? fail() },
  };
  await simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    for (let n = 0; n < 9; n++) yield* Effect.flip(syncOf(earlier, memory, { nodes }));
    expect(memory.contradiction).toMatchObject({ kind: "earlier_state", firstDifference: null });
    yield* expectMarked(index, ledger);
    for (let n = 0; n < 3 && memory.contradictions < 3; n++)
      yield* Effect.flip(syncOf(earlier, memory));
    expect(yield* syncOf(earlier, memory, { approval })).toMatchObject({ count: 1n });
    yield* expectMarked(index, earlier);
  });
});

test("a build whose scans do not prove the approved history leaves the index as it was", async () => {
  const { ledger, rewritten } = twoHistories();
  const approval = {
    replaces: ledger.rootAt(3n) ?? fail(),
    by: { count: 4n, root: rewritten.rootAt(4n) ?? fail() },
  };
  await simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    for (let n = 0; n < 3; n++) yield* Effect.flip(syncOf(rewritten, memory));
    // The node shows the history once, for the proof, and then the ledger's accounts.
    let scans = 0;
    const port: Ledger["Service"] = {
      ...rewritten.port,
      programAccounts: (kind) => {
        scans += 1;
        return (scans > 2 ? ledger : rewritten).port.programAccounts(kind);
      },
    };
    const sync = syncWith(memory).pipe(
      Effect.provideService(Ledger, port),
      Effect.provideService(RebuildApprovals, Effect.succeed(approval)),
    );
    yield* Effect.flip(sync);
    expect(scans).toBeGreaterThan(2);
    yield* expectMarked(index, ledger);
  });
});
