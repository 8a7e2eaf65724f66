import { describe, expect, test } from "bun:test";
import { Effect, Exit, Ref, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import { SyncMemory } from "../../../../core/use-cases/index/sync/sync-memory.ts";
import { syncIndex } from "../../../../core/use-cases/index/sync/sync-index.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { EscrowIndex, StoreUnavailable } from "../../../../ports/escrow-index.ts";
import type { Instance } from "../../../../ports/instance.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger.ts";
import {
  anyMerchant,
  type EscrowLife,
  escrowLife,
  escrowLives,
} from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { FAIR, FOUL, SimulatedLedger } from "./simulated-ledger.ts";
import { simulate, contents } from "./simulated-sync.ts";

const anyWorld = fc.record({
  seed: fc.nat(),
  lives: escrowLives(8),
  merchants: fc.uniqueArray(anyMerchant, { selector: ({ address }) => address, maxLength: 3 }),
});
type World = {
  seed: number;
  lives: Array<EscrowLife>;
  merchants: Array<Parameters<SimulatedLedger["register"]>[0]>;
};

/** Plays the lives of a world in a random order, a few steps at a time, and calls `between` in the gaps. */
const play = (
  ledger: SimulatedLedger,
  { seed, lives, merchants }: World,
  between: Effect.Effect<void, never, Ledger | EscrowIndex | Instance>,
) => {
  const random = seededRandom(seed);
  const steps: Array<() => void> = [
    ...lives.flatMap((life) => [
      { life, at: random(), act: () => ledger.create(life) },
      ...life
        .slice(1)
        .flatMap((settled) => [
          { life, at: 1 + random(), act: () => ledger.settle(settled) },
          ...(random() < 0.5
            ? [{ life, at: 2 + random(), act: () => ledger.archive(settled) }]
            : []),
        ]),
    ]),
    ...merchants.map((merchant) => ({ at: 2 * random(), act: () => ledger.register(merchant) })),
    ...[true, false, false].map((failed) => ({ at: 2 * random(), act: () => ledger.spam(failed) })),
  ]
    .sort((a, b) => a.at - b.at)
    .map(({ act }) => act);
  return Effect.forEach(
    steps,
    (act) =>
      Effect.suspend(() => {
        act();
        const slots = 1 + Math.floor(random() * 60);
        ledger.slot += BigInt(slots);
        return Effect.andThen(
          TestClock.adjust(slots * 400),
          random() < 0.6 ? between : Effect.void,
        );
      }),
    { discard: true },
  );
};

/** What an index must hold in the end. */
const oracle = (ledger: SimulatedLedger, { lives, merchants }: World) => {
  const escrows = lives.map((life) => life.at(-1) ?? life[0]);
  return {
    escrows: new Set(escrows),
    merchants: new Set(merchants),
    events: Object.fromEntries(
      escrows
        .flatMap(eventsOf)
        .map((event) => {
          const { signature, slot } = ledger.references.get(event.id) ?? {};
          return [event.id, { event, signature, slot }] as const;
        })
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
  };
};
const asSets = ({ escrows, merchants, events }: Effect.Success<ReturnType<typeof contents>>) => ({
  escrows: new Set(escrows),
  merchants: new Set(merchants),
  events,
});

describe("syncs of a simulated ledger", () => {
  test("end with the ledger's content, whatever its nodes do on the way, and never go back", async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        const ledger = new SimulatedLedger(seededRandom(world.seed + 1));
        await simulate(ledger, (index) =>
          Effect.gen(function* () {
            const memory = yield* Ref.make(new SyncMemory());
            const sync = Effect.gen(function* () {
              const before = yield* index.summary;
              ledger.weather = FOUL;
              // A restarted process has an empty memory.
              if (ledger.calls % 3 === 0) yield* Ref.set(memory, new SyncMemory());
              yield* Effect.exit(syncIndex(1, yield* Ref.get(memory)));
              ledger.weather = FAIR;
              const after = yield* index.summary;
              expect(after.checkpoint?.slot ?? 0n).toBeGreaterThanOrEqual(
                before.checkpoint?.slot ?? 0n,
              );
              expect(after.checkpoint?.slot ?? 0n).toBeLessThanOrEqual(ledger.slot);
            }).pipe(Effect.orDie);
            yield* play(ledger, world, sync);
            ledger.slot += 1n;
            const report = yield* syncIndex(2, yield* Ref.get(memory));
            expect(report).toMatchObject({ slot: ledger.slot, vanished: [], rejected: [] });
            // A snapshot finds the tombstones that a restarted process forgot, and the search for transactions that a
            // node hid is repeated after ten minutes.
            yield* TestClock.adjust("61 minutes");
            yield* syncIndex(3, yield* Ref.get(memory));
            yield* TestClock.adjust("11 minutes");
            const last = yield* syncIndex(4, yield* Ref.get(memory));
            expect(last.unseen).toBe(0);
            const expected = oracle(ledger, world);
            const held = asSets(yield* contents(index));
            expect(held.escrows).toEqual(expected.escrows);
            expect(held.merchants).toEqual(expected.merchants);
            for (const [id, { event, signature, slot }] of Object.entries(held.events)) {
              const known = expected.events[id];
              expect(event).toEqual(known?.event as typeof event);
              if (signature !== null)
                expect({ signature, slot }).toEqual({
                  signature: known?.signature as typeof signature,
                  slot: known?.slot as typeof slot,
                });
            }
            expect(Object.keys(held.events)).toEqual(Object.keys(expected.events));

            const before = yield* contents(index);
            for (let n = 0; n < 10; n++) {
              const again = yield* syncIndex(
                n,
                n % 2 === 0 ? yield* Ref.get(memory) : new SyncMemory(),
              );
              expect(again.eventsAdded + again.escrows.created + again.escrows.updated).toBe(0);
            }
            expect((yield* contents(index)).escrows).toEqual(before.escrows);
            expect(Object.keys((yield* contents(index)).events)).toEqual(
              Object.keys(before.events),
            );
          }),
        );
      }),
      runs(40),
    );
  });

  test("without faults read only what changed, and know every event's transaction", async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        const ledger = new SimulatedLedger(seededRandom(world.seed));
        await simulate(ledger, (index) =>
          Effect.gen(function* () {
            const memory = new SyncMemory();
            expect(yield* syncIndex(0, memory)).toMatchObject({ mode: "snapshot" });
            const modes: Array<string> = [];
            const sync = Effect.gen(function* () {
              modes.push((yield* syncIndex(1, memory)).mode);
            }).pipe(Effect.orDie);
            yield* play(ledger, world, sync);
            yield* sync;
            expect(new Set(modes)).toEqual(new Set(["incremental"]));
            expect(asSets(yield* contents(index))).toEqual(oracle(ledger, world) as never);
            const quiet = ledger.calls;
            yield* sync;
            // The tip, the clock and the two histories. No event lacks its transaction.
            expect(ledger.calls - quiet).toBeLessThanOrEqual(4 + 2 * 8);
          }),
        );
      }),
      runs(30),
    );
  });

  /** One sync of a world that changed since the last one, through ports that `trouble` may replace. */
  const troubled = async (
    world: World,
    isSynced: boolean,
    spoil: (spoiled: Spoiled) => Spoiled,
    outcome: (exit: Exit.Exit<unknown, unknown>) => void,
  ) => {
    const ledger = new SimulatedLedger(seededRandom(world.seed));
    return simulate(ledger, (index) =>
      Effect.gen(function* () {
        const [first, ...others] = world.lives;
        if (first !== undefined) ledger.create(first);
        ledger.slot += 5n;
        if (isSynced) yield* syncIndex(0, new SyncMemory());
        const rest = { ...world, lives: others };
        yield* play(ledger, rest, Effect.void);
        const spoiled = spoil({ ledger: ledger.port, index });
        const exit = yield* syncIndex(1, new SyncMemory()).pipe(
          Effect.provideService(Ledger, spoiled.ledger),
          Effect.provideService(EscrowIndex, spoiled.index),
          Effect.exit,
        );
        outcome(exit);
        // Batches are whole: no row without its events, no event without its row.
        const { escrows, events } = yield* contents(index);
        expect(new Set(Object.keys(events))).toEqual(
          new Set(escrows.flatMap(eventsOf).map(({ id }) => id)),
        );
        yield* syncIndex(2, new SyncMemory());
        expect(yield* index.summary).toMatchObject({ checkpoint: { slot: ledger.slot } });
        if (first !== undefined && first.length === 1) {
          const held = asSets(yield* contents(index));
          expect(held).toEqual(oracle(ledger, world) as never);
        }
      }),
    );
  };

  type Spoiled = { readonly ledger: Ledger["Service"]; readonly index: EscrowIndex["Service"] };
  /** The same ports, with `trouble` instead of the k-th call. Counts the calls. */
  const atCall =
    (k: number, trouble: "failure" | "interruption", count: { calls: number }) =>
    ({ ledger, index }: Spoiled): Spoiled => {
      const call = <A, E>(effect: Effect.Effect<A, E>, failure: E): Effect.Effect<A, E> =>
        Effect.suspend(() => {
          count.calls += 1;
          if (count.calls !== k) return effect;
          return trouble === "failure" ? Effect.fail(failure) : Effect.interrupt;
        });
      const rpc = new LedgerUnavailable({ retryable: true, cause: "k" });
      const db = new StoreUnavailable({ retryable: true, cause: "k" });
      return {
        ledger: {
          genesisHash: call(ledger.genesisHash, rpc),
          tip: (commitment) => call(ledger.tip(commitment), rpc),
          readAccounts: (...asked) => call(ledger.readAccounts(...asked), rpc),
          history: (...asked) => call(ledger.history(...asked), rpc),
          transaction: (signature) => call(ledger.transaction(signature), rpc),
          programAccounts: (program) =>
            Stream.mapEffect(ledger.programAccounts(program), (chunk) =>
              call(Effect.succeed(chunk), rpc),
            ),
        },
        index: {
          ...index,
          apply: (batch) => call(index.apply(batch), db),
          summary: call(index.summary, db),
          escrows: (...asked) => call(index.escrows(...asked), db),
          escrowsAt: (addresses) => call(index.escrowsAt(addresses), db),
          merchants: (...asked) => call(index.merchants(...asked), db),
          eventsWithoutReference: (...asked) => call(index.eventsWithoutReference(...asked), db),
        },
      };
    };

  test.each([
    ["failure", "first"],
    ["failure", "later"],
    ["interruption", "first"],
    ["interruption", "later"],
  ] as const)(
    "that meet a %s at the k-th call of the %s sync, for every k, leave whole batches, and the next one ends well",
    async (trouble, which) => {
      const [world] = fc.sample(
        fc.record({
          seed: fc.constant(7),
          lives: fc.uniqueArray(escrowLife, {
            selector: ([pending]) => pending.address,
            minLength: 5,
            maxLength: 5,
          }),
          merchants: fc.array(anyMerchant, { minLength: 1, maxLength: 1 }),
        }),
        { numRuns: 1, seed: 5 },
      );
      if (world === undefined) throw new Error("no sample");
      for (let k = 1; ; k++) {
        const count = { calls: 0 };
        let failed = false;
        await troubled(world, which === "later", atCall(k, trouble, count), (exit) => {
          failed = Exit.isFailure(exit);
        });
        if (count.calls < k) {
          expect(failed).toBe(false);
          expect(k).toBeGreaterThan(12);
          break;
        }
      }
    },
  );
});
