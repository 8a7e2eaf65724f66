import { expect, test } from "bun:test";
import { Effect } from "effect";
import fc from "fast-check";
import { ledgerSignatureFromBytes } from "../../../../core/domain/ledger/signature.ts";
import type { HistoryPage, LedgerTransaction } from "../../../../core/domain/ledger/history.ts";
import { IndexAccounts } from "../../../../core/use-cases/index/sync/index-accounts.ts";
import { listHistory } from "../../../../core/use-cases/index/sync/ledger/follow-history.ts";
import { readAccountsSince } from "../../../../core/use-cases/index/sync/ledger/custody-tip.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { merchantChanges } from "../../../../core/use-cases/index/sync/merchants/follow-merchants.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { anyMerchant, changesOf, escrowLife, markAt } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";

const { attestorProgram } = TEST_DEPLOYMENT;
const [merchant] = fc.sample(anyMerchant, { numRuns: 1, seed: 3 });
const [life] = fc.sample(escrowLife, { numRuns: 1, seed: 3 });
if (merchant === undefined || life === undefined) throw new Error("no sample");
const later = { ...merchant, updatedAt: merchant.updatedAt + 1n };

const ledgerWithOne = () => {
  const ledger = new WeatheredChain(seededRandom(1));
  ledger.create([life[0]]);
  return ledger;
};
const signature = (n: number) => ledgerSignatureFromBytes(new Uint8Array(64).fill(n));
const entry = (n: number) => ({ signature: signature(n), slot: BigInt(n), failed: false });

test("an older sighting of a merchant replaces no newer row, and a newer one does", () =>
  simulate(ledgerWithOne(), function* ({ writer }) {
    const row = { row: later, slot: 20n };
    yield* writer.apply(
      changesOf({ from: null, merchants: [row], mark: { ...markAt([], 20n), count: 0n } }),
    );
    const seen = (slot: bigint) =>
      Effect.gen(function* () {
        const accounts = new IndexAccounts(TEST_DEPLOYMENT, 20n);
        const changes = yield* merchantChanges(accounts, [{ row: merchant, slot }]);
        const { updated, unchanged } = accounts.merchants.counts;
        return { changes: changes.length, updated, unchanged };
      });
    expect(yield* seen(19n)).toEqual({ changes: 0, updated: 0, unchanged: 1 });
    expect(yield* seen(21n)).toEqual({ changes: 1, updated: 1, unchanged: 0 });
  }));

test("of several sightings of a merchant in one sync the newest is taken, in whatever order they come", () =>
  simulate(ledgerWithOne(), function* () {
    const [old, young] = [
      { row: merchant, slot: 19n },
      { row: later, slot: 20n },
    ];
    for (const sightings of [
      [old, young],
      [young, old],
    ])
      expect(yield* merchantChanges(new IndexAccounts(TEST_DEPLOYMENT, 20n), sightings)).toEqual([
        young,
      ]);
  }));

test.each<readonly [string, (shown: LedgerTransaction) => LedgerTransaction | null]>([
  ["does not show", () => null],
  ["shows at another slot", (shown) => ({ ...shown, slot: shown.slot + 1n })],
])("a merchant's transaction that the node lists and %s leads to a scan", (_name, shown) =>
  simulate(ledgerWithOne(), function* (index, ledger) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    ledger.slot += 1n;
    ledger.changeMerchant(merchant);
    const port: Ledger["Service"] = {
      ...ledger.port,
      transaction: (asked) =>
        Effect.map(ledger.port.transaction(asked), (one) => (one === null ? null : shown(one))),
    };
    const report = yield* Effect.provideService(syncWith(memory), Ledger, port);
    expect(report).toMatchObject({ mode: "snapshot", merchants: { created: 1 } });
    expect((yield* contents(index)).merchants).toEqual([merchant]);
  }),
);

/** What `listHistory` finds from slot 1 on at a node with these pages, one after the other. */
const listed = (...pages: ReadonlyArray<HistoryPage>) => {
  const ledger = ledgerWithOne();
  const rest = [...pages];
  const port: Ledger["Service"] = {
    ...ledger.port,
    history: () => Effect.sync(() => rest.shift() ?? { entries: [], keptFrom: 0n }),
  };
  return simulate(ledger, () =>
    listHistory([attestorProgram], 1n, 100).pipe(
      Effect.provideService(Ledger, port),
      Effect.map((found) => found && [...found.values()].map(({ slot }) => Number(slot))),
    ),
  );
};
const page = (slots: ReadonlyArray<number>, keptFrom: bigint | null = 0n): HistoryPage => ({
  entries: slots.map(entry),
  keptFrom,
});

test("a list of history is complete only where pages overlap down to its end or below the floor", async () => {
  expect(await listed(page([9, 8]), page([8, 7, 0]))).toEqual([9, 8, 7]);
  expect(await listed(page([9, 8]), page([8]))).toEqual([9, 8]);
  expect(await listed(page([9]))).toEqual([9]);
  expect(await listed(page([]))).toEqual([]);
});

test.each<readonly [string, ReadonlyArray<HistoryPage>]>([
  ["comes empty behind a signature", [page([9, 8]), page([])]],
  ["holds the signature it begins behind", [page([9, 8]), page([9, 8])]],
  ["lacks the overlap with the one before", [page([9, 8]), page([6, 0])]],
  ["ends at a node that has pruned its history", [page([9, 8], 5n), page([8], 5n)]],
  ["ends at a node that does not say how far back it goes", [page([9, 8], null), page([8], null)]],
  ["comes empty from a node that has pruned its history", [page([], 5n)]],
  ["has one entry at a node that does not say how far back it goes", [page([9], null)]],
])("a list of history is not complete when a page %s", async (_name, pages) => {
  expect(await listed(...pages)).toBeNull();
});

test("accounts of a slot below the one asked for are refused, however often a node shows them", () =>
  simulate(ledgerWithOne(), function* (_, ledger) {
    const read = readAccountsSince([ledger.custodyLog.address], ledger.slot + 1n);
    expect(yield* Effect.flip(read)).toMatchObject({
      _tag: "LedgerUnavailable",
      cause: "answer of slot 1000 is older than what is known, 1001",
    });
    ledger.slot += 1n;
    expect(yield* readAccountsSince([ledger.custodyLog.address], ledger.slot)).toMatchObject({
      slot: ledger.slot,
    });
  }));

test("a tip of a slot below the mark's is refused, though the count and the head are the same", () =>
  simulate(ledgerWithOne(), function* (index, ledger) {
    const memory = new SyncMemory();
    ledger.slot += 10n;
    yield* syncWith(memory);
    const { mark } = yield* index.reader.summary;
    ledger.slot -= 5n;
    expect(yield* Effect.flip(syncWith(memory))).toMatchObject({
      _tag: "LedgerUnavailable",
      cause: "answer of slot 1005 is older than what is known, 1010",
    });
    expect((yield* index.reader.summary).mark).toEqual(mark);
  }));

test("a burst that a provider's limits cut into pieces is indexed, because nothing is read twice", () => {
  const BURST = 200;
  const MOST_A_SYNC = 40;
  const lives = fc.sample(
    fc.uniqueArray(
      escrowLife.map(([pending]) => pending),
      { selector: ({ address }) => address, minLength: BURST, maxLength: BURST },
    ),
    { numRuns: 1, seed: 11 },
  )[0];
  const ledger = ledgerWithOne();
  return simulate(ledger, function* (index) {
    const memory = new SyncMemory();
    yield* syncWith(memory);
    for (const [at, pending] of (lives ?? []).entries()) {
      if (at % 10 === 0) ledger.slot += 1n;
      if (pending.address !== life[0].address) ledger.create([pending]);
    }
    let asked = 0;
    const limited: Ledger["Service"] = {
      ...ledger.port,
      transaction: (one) =>
        ++asked > MOST_A_SYNC
          ? Effect.fail(new LedgerUnavailable({ retryable: true, cause: "429" }))
          : ledger.port.transaction(one),
    };
    // A scan of more rows than the limit is put off for a minute.
    const large: IndexReader["Service"] = {
      ...index.reader,
      summary: Effect.map(index.reader.summary, (is) => ({ ...is, escrows: 30_000 })),
    };
    const count = () => Effect.map(index.reader.summary, ({ mark }) => mark?.count);
    let syncs = 0;
    for (; syncs < 12 && (yield* count()) !== ledger.custodyLog.count; syncs++) {
      asked = 0;
      yield* syncWith(memory).pipe(
        Effect.provideService(Ledger, limited),
        Effect.provideService(IndexReader, large),
        Effect.exit,
      );
    }
    expect(yield* count()).toBe(ledger.custodyLog.count);
    expect(syncs).toBeLessThanOrEqual(6);
  });
});

test("a tip of a backend that lags behind the mark is no reason to fail: accounts of the mark's slot or later are read", () =>
  simulate(ledgerWithOne(), function* (index, ledger) {
    const memory = new SyncMemory();
    ledger.slot += 10n;
    yield* syncWith(memory);
    ledger.slot += 2n;
    // The backends behind one address: one shows the tip, another, which is further, the accounts.
    const lagging: Ledger["Service"] = {
      ...ledger.port,
      tip: () => Effect.succeed({ slot: 1004n, blockHeight: 1004n }),
    };
    yield* Effect.provideService(syncWith(memory), Ledger, lagging);
    expect((yield* index.reader.summary).mark).toMatchObject({ count: 1n, slot: 1012n });
  }));
