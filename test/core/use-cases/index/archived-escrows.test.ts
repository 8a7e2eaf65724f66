import { describe, expect, test } from "bun:test";
import { Effect, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { SEARCHES_A_SYNC } from "../../../../core/use-cases/index/sync/archived/search-archived.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { type EscrowLife, escrowLife } from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { FAIR, WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, simulate, syncWith } from "./simulated-sync.ts";
import { expectMarked } from "./expect-marked.ts";

const settledLives = (minLength: number, maxLength: number) =>
  fc.uniqueArray(
    escrowLife.filter((life) => life.length > 1),
    { selector: ([pending]) => pending.address, minLength, maxLength },
  );
const last = (life: EscrowLife): Escrow => life.at(-1) ?? life[0];

/** When an escrow is archived: around the scans of a snapshot for merchants (0), escrows (1) and tombstones (2). */
const MOMENTS = ["before", 0, 1, 2, "after", "never"] as const;
/** What the index had of an escrow before that snapshot. */
const KNOWN = ["nothing", "Pending", "settled"] as const;

/** The ledger's port, which acts before each scan of a snapshot and in the middle of it. */
const acting = (ledger: WeatheredChain, act: (scan: number) => void): Ledger["Service"] => {
  let scans = 0;
  return {
    ...ledger.port,
    programAccounts: (kind) =>
      Stream.suspend(() => {
        const scan = scans++;
        let chunks = 0;
        act(scan);
        ledger.slot += 1n;
        return Stream.tap(ledger.port.programAccounts(kind), () =>
          Effect.sync(() => {
            if (chunks++ === 0) act(scan + 0.5);
          }),
        );
      }),
  };
};

describe("a snapshot", () => {
  test("has each escrow as it was settled, whenever it is archived", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        settledLives(1, 7),
        fc.array(fc.tuple(fc.constantFrom(...MOMENTS), fc.boolean(), fc.constantFrom(...KNOWN)), {
          minLength: 7,
          maxLength: 7,
        }),
        async (seed, lives, plans) => {
          const ledger = new WeatheredChain(seededRandom(seed));
          const planned = lives.map((life, at) => {
            const [moment, isInMiddle, known] = plans[at] ?? ["never", false, "nothing"];
            return { life, moment, isInMiddle, known };
          });
          const archive = (wanted: (plan: (typeof planned)[number]) => boolean) => {
            for (const plan of planned.filter(wanted)) ledger.archive(last(plan.life));
            ledger.slot += 1n;
          };
          await simulate(ledger, function* (index) {
            for (const known of ["Pending", "settled"] as const) {
              for (const plan of planned)
                if (known === "Pending" && plan.known !== "nothing") ledger.create(plan.life);
                else if (known === "settled" && plan.known === "settled")
                  ledger.settle(last(plan.life));
              ledger.slot += 1n;
              if (planned.some((plan) => plan.known === known))
                yield* syncWith(new SyncMemory(), 0);
            }
            for (const { life, known } of planned) {
              if (known === "nothing") ledger.create(life);
              if (known !== "settled") ledger.settle(last(life));
            }
            ledger.slot += 1n;
            archive(({ moment }) => moment === "before");
            const memory = new SyncMemory();
            // A snapshot is forced: the node shows no history.
            ledger.weather = { ...FAIR, pruned: 1 };
            const port = acting(ledger, (at) =>
              archive(({ moment, isInMiddle }) => moment === at - (isInMiddle ? 0.5 : 0)),
            );
            const report = yield* syncWith(memory, 1).pipe(Effect.provideService(Ledger, port));
            expect(report).toMatchObject({ vanished: [], rejected: [] });
            yield* expectMarked(index, ledger);
            ledger.weather = FAIR;
            archive(({ moment }) => moment === "after");
            expect(yield* syncWith(memory, 2)).toMatchObject({ vanished: [], rejected: [] });
            yield* TestClock.adjust("11 minutes");
            expect(yield* syncWith(memory, 3)).toMatchObject({ unseen: 0 });
            const { escrows, events } = yield* contents(index);
            yield* expectMarked(index, ledger);
            expect(new Set(escrows)).toEqual(new Set(ledger.escrows.values()));
            expect(new Set(Object.keys(events))).toEqual(
              new Set(
                lives
                  .map(last)
                  .flatMap(eventsOf)
                  .map(({ id }) => id),
              ),
            );
          });
        },
      ),
      runs(60),
    );
  });
});

/** A world in which every escrow was archived before anybody looked. */
const archivedWorld = (count: number) => {
  const [lives] = fc.sample(settledLives(count, count), { numRuns: 1, seed: 3 });
  if (lives === undefined) throw new Error("no sample");
  const ledger = new WeatheredChain(seededRandom(1));
  for (const life of lives) ledger.create(life);
  ledger.slot += 1n;
  for (const life of lives) ledger.settle(last(life));
  ledger.slot += 1n;
  for (const life of lives) ledger.archive(last(life));
  // Further back than what each sync reads again.
  ledger.slot += 1000n;
  return { ledger, escrows: [...ledger.escrows.values()] };
};

describe("archived escrows that no sync saw before", () => {
  test("have no rows while their bytes are not found, and all other rows are complete", async () => {
    const { ledger, escrows } = archivedWorld(3);
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      ledger.weather = { ...FAIR, hidden: 1 };
      const first = yield* syncWith(memory, 0);
      expect(first).toMatchObject({ mode: "snapshot", slot: ledger.slot, unseen: 3 });
      expect((yield* contents(index)).escrows).toEqual([]);
      ledger.weather = FAIR;
      // The whole history was read without success, so it is not read again at once.
      expect(yield* syncWith(memory, 1)).toMatchObject({ unseen: 3 });
      yield* TestClock.adjust("10 minutes");
      const found = yield* syncWith(memory, 2);
      expect(found).toMatchObject({ unseen: 0, eventsAdded: 0 });
      expect(new Set((yield* contents(index)).escrows)).toEqual(new Set(escrows));
    });
  });

  test("are searched a few at a time", async () => {
    const { ledger, escrows } = archivedWorld(SEARCHES_A_SYNC + 5);
    const addresses = new Set(escrows.map(({ address }) => address));
    await simulate(ledger, function* (index) {
      const memory = new SyncMemory();
      const asked = new Set<string>();
      const port: Ledger["Service"] = {
        ...ledger.port,
        history: (address, before) => {
          if (addresses.has(address)) asked.add(address);
          return ledger.port.history(address, before);
        },
      };
      const sync = (run: number) => syncWith(memory, run).pipe(Effect.provideService(Ledger, port));
      expect(yield* sync(0)).toMatchObject({ unseen: 5 });
      expect(asked.size).toBe(SEARCHES_A_SYNC);
      expect(yield* sync(1)).toMatchObject({ unseen: 0 });
      expect((yield* index.reader.summary).escrows).toBe(escrows.length);
    });
  });
});

test("a scan for tombstones at an older slot than the escrows' is refused", async () => {
  const { ledger } = archivedWorld(1);
  await simulate(ledger, function* () {
    let scans = 0;
    const port: Ledger["Service"] = {
      ...ledger.port,
      programAccounts: (kind) =>
        Stream.map(ledger.port.programAccounts(kind), (chunk) =>
          ++scans === 3 ? { ...chunk, slot: chunk.slot - 1n } : chunk,
        ),
    };
    const exit = yield* Effect.flip(
      syncWith(new SyncMemory(), 0).pipe(Effect.provideService(Ledger, port)),
    );
    expect(exit).toMatchObject({ _tag: "LedgerUnavailable" });
  });
});
