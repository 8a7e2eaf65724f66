import { expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import {
  IndexSync,
  makeIndexSync,
  requestSync,
} from "../../../../core/use-cases/index/sync/index-sync.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { type StoreFault, StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { Ledger, type LedgerFailure, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import { anyMerchant } from "../../../arbitraries/index-history.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { TEST_DEPLOYMENT } from "../../../arbitraries/test-ledger.ts";
import type { Index } from "../../../contracts/fresh-index.ts";
import { WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, type Ports, simulate } from "./simulated-sync.ts";

const [merchant] = fc.sample(anyMerchant, { numRuns: 1, seed: 12 });
if (merchant === undefined) throw new Error("no sample");
const DOWN = new LedgerUnavailable({ retryable: true, cause: "down" });

/** Runs a program with the syncs of a ledger whose history never shows merchants. */
const withSyncs = <E>(
  program: (parts: {
    readonly ledger: WeatheredChain;
    readonly index: Index;
    readonly scans: { end: LedgerFailure | null };
  }) => Effect.Effect<void, E, Ports | IndexSync>,
) => {
  const ledger = new WeatheredChain(seededRandom(4));
  const scans: { end: LedgerFailure | null } = { end: null };
  const port = Ledger.of({
    ...ledger.port,
    history: (address, before) =>
      address === TEST_DEPLOYMENT.attestorProgram
        ? Effect.succeed({ entries: [], keptFrom: 0n })
        : ledger.port.history(address, before),
    programAccounts: (kind) =>
      scans.end === null ? ledger.port.programAccounts(kind) : Stream.fail(scans.end),
  });
  return simulate(ledger, (index) =>
    Effect.gen(function* () {
      const sync = yield* makeIndexSync();
      yield* Effect.provideService(program({ ledger, index, scans }), IndexSync, sync);
    }).pipe(Effect.provideService(Ledger, port), Effect.scoped),
  );
};

const snapshotTime = ({ reader }: Index) =>
  Effect.map(reader.summary, ({ snapshotAtMs }) => snapshotAtMs);

test("a snapshot that is asked for finds what no history shows, and its time is stored", () =>
  withSyncs(({ ledger, index }) =>
    Effect.gen(function* () {
      yield* requestSync(false);
      const built = yield* snapshotTime(index);
      ledger.changeMerchant(merchant);
      yield* TestClock.adjust("2 minutes");
      expect(yield* requestSync(false)).toMatchObject({ mode: "incremental" });
      expect((yield* contents(index)).merchants).toEqual([]);
      expect(yield* snapshotTime(index)).toBe(built);
      expect(yield* requestSync(true)).toMatchObject({
        mode: "snapshot",
        merchants: { created: 1 },
      });
      expect((yield* contents(index)).merchants).toEqual([merchant]);
      expect(yield* snapshotTime(index)).toBe((built ?? 0) + 120_000);
      expect(yield* requestSync(false)).toMatchObject({ mode: "incremental" });
    }),
  ));

test("a snapshot of the last minute is not repeated", () =>
  withSyncs(({ index }) =>
    Effect.gen(function* () {
      yield* requestSync(false);
      const built = (yield* snapshotTime(index)) ?? 0;
      yield* TestClock.adjust("59 seconds");
      expect(yield* requestSync(true)).toMatchObject({ mode: "incremental" });
      expect(yield* snapshotTime(index)).toBe(built);
      yield* TestClock.adjust("1 second");
      expect(yield* requestSync(true)).toMatchObject({ mode: "snapshot" });
      // By this clock, the last snapshot is to come.
      yield* TestClock.setTime(built - 1);
      expect(yield* requestSync(true)).toMatchObject({ mode: "snapshot" });
    }),
  ));

test("who asks for a snapshot learns that it failed, and nobody after that", () =>
  withSyncs(({ index, scans }) =>
    Effect.gen(function* () {
      yield* requestSync(false);
      const built = yield* snapshotTime(index);
      yield* TestClock.adjust("2 minutes");
      scans.end = DOWN;
      expect(yield* Effect.flip(requestSync(true))).toBe(DOWN);
      expect(yield* snapshotTime(index)).toBe(built);
      expect(yield* requestSync(false)).toMatchObject({ mode: "incremental" });
      const { activity } = yield* IndexSync;
      expect(yield* activity).toMatchObject({
        snapshotError: "LedgerUnavailable",
        lastError: null,
      });
      yield* TestClock.adjust("2 minutes");
      // A scan that nobody waits for may fail.
      expect(yield* requestSync(false)).toMatchObject({ mode: "incremental" });
    }),
  ));

test("what the store has said that ended a sync stands until one completes", () => {
  const ledger = new WeatheredChain(seededRandom(4));
  return simulate(ledger, (index) =>
    Effect.gen(function* () {
      let full: StoreFault | undefined;
      const writer: IndexWriter["Service"] = {
        ...index.writer,
        apply: (changes) =>
          full === undefined
            ? index.writer.apply(changes)
            : Effect.fail(new StoreUnavailable({ retryable: true, cause: "full", fault: full })),
      };
      const { request, activity } = yield* Effect.provideService(
        makeIndexSync(),
        IndexWriter,
        writer,
      );
      yield* request;
      expect(yield* activity).not.toHaveProperty("storeFault");
      full = { problem: "no space is left on its disk", cure: "Free space on its disk." };
      ledger.changeMerchant(merchant);
      yield* TestClock.adjust("1 minute");
      yield* Effect.flip(request);
      expect(yield* activity).toMatchObject({ lastError: "StoreUnavailable", storeFault: full });
      full = undefined;
      yield* request;
      expect(yield* activity).not.toHaveProperty("storeFault");
    }).pipe(Effect.provideService(Ledger, ledger.port), Effect.scoped),
  );
});
