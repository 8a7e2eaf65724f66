import { describe, expect, test } from "bun:test";
import { Effect, Exit, Ref, Stream } from "effect";
import { TestClock } from "effect/testing";
import fc from "fast-check";
import type { Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import type { Merchant } from "../../../../core/domain/merchant/merchant.ts";
import { eventsOf } from "../../../../core/domain/index/settlement-event.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { Ledger, LedgerUnavailable } from "../../../../ports/ledger/ledger.ts";
import {
  anyMerchant,
  type EscrowLife,
  escrowLife,
  escrowLives,
} from "../../../arbitraries/index-history.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { captured, closed } from "../../../doubles/escrow-steps.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { FAIR, FOUL, WeatheredChain } from "../../../world/weathered-chain.ts";
import { contents, type Ports, simulate, syncWith } from "./simulated-sync.ts";
import { expectMarked } from "./expect-marked.ts";

const anyWorld = fc.record({
  seed: fc.nat(),
  lives: escrowLives(8),
  merchants: fc.uniqueArray(anyMerchant, { selector: ({ address }) => address, maxLength: 3 }),
});
type World = {
  seed: number;
  lives: ReadonlyArray<EscrowLife>;
  merchants: ReadonlyArray<Merchant>;
};

/** What a Pending session is after each of a few changes: a capture, its closing, and one more capture of all. */
const changesOf = (created: Escrow): ReadonlyArray<(numbered: Escrow) => Escrow> => {
  if (created.sessionKey === null) return [];
  const paid = (total: bigint, deliveries: number) => ({
    proofHash: created.taskHash,
    total,
    timestamp: created.createdAt,
    deliveries,
    signature: new Uint8Array(64).fill(deliveries),
  });
  const first = (numbered: Escrow) => captured(numbered, paid(1n, 1));
  const closing = (numbered: Escrow) => closed(first(numbered), created.createdAt);
  return [first, closing, (numbered) => captured(closing(numbered), paid(created.amount, 2))];
};

/** Plays the lives of a world in a random order, a few steps at a time, and calls `between` in the gaps. */
const play = (
  ledger: WeatheredChain,
  { seed, lives, merchants }: World,
  between: Effect.Effect<void, never, Ports>,
) => {
  const random = seededRandom(seed);
  const steps: Array<() => void> = [
    ...lives.flatMap((life) => [
      { life, at: random(), act: () => ledger.create(life) },
      // Each after the creation and before the settlement, and what is Pending in the end also later.
      ...changesOf(life[0]).map((change, i) => ({
        life,
        at: 1 + (life.length === 1 ? 2 : 0.1) * ((i + random()) / 3),
        act: () => ledger.change(change(ledger.at(life[0].address))),
      })),
      ...life
        .slice(1)
        .flatMap((settled) => [
          { life, at: 1.1 + random(), act: () => ledger.settle(settled) },
          ...(random() < 0.5
            ? [{ life, at: 2.1 + random(), act: () => ledger.archive(settled) }]
            : []),
        ]),
    ]),
    ...merchants.map((merchant) => ({
      at: 2 * random(),
      act: () => ledger.changeMerchant(merchant),
    })),
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
const oracle = (ledger: WeatheredChain, { merchants }: World) => {
  const escrows = [...ledger.escrows.values()];
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
        const ledger = new WeatheredChain(seededRandom(world.seed + 1));
        await simulate(ledger, function* (index) {
          const memory = yield* Ref.make(new SyncMemory());
          const sync = Effect.gen(function* () {
            const before = yield* index.reader.summary;
            ledger.weather = FOUL;
            // A restarted process has an empty memory.
            if (ledger.calls % 3 === 0) yield* Ref.set(memory, new SyncMemory());
            yield* Effect.exit(syncWith(yield* Ref.get(memory), 1));
            ledger.weather = FAIR;
            const after = yield* index.reader.summary;
            expect(after.mark?.count ?? 0n).toBeGreaterThanOrEqual(before.mark?.count ?? 0n);
            expect(after.mark?.slot ?? 0n).toBeLessThanOrEqual(ledger.slot);
            yield* expectMarked(index, ledger);
          }).pipe(Effect.orDie);
          yield* play(ledger, world, sync);
          ledger.slot += 1n;
          const report = yield* syncWith(yield* Ref.get(memory), 2);
          expect(report).toMatchObject({ slot: ledger.slot, vanished: [], rejected: [] });
          // A snapshot finds the tombstones that a restarted process forgot, and the search for transactions that a
          // node hid is repeated after ten minutes.
          yield* TestClock.adjust("61 minutes");
          yield* syncWith(yield* Ref.get(memory), 3);
          yield* TestClock.adjust("11 minutes");
          const last = yield* syncWith(yield* Ref.get(memory), 4);
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
            const again = yield* syncWith(
              n % 2 === 0 ? yield* Ref.get(memory) : new SyncMemory(),
              n,
            );
            expect(again.eventsAdded + again.escrows.created + again.escrows.updated).toBe(0);
          }
          expect((yield* contents(index)).escrows).toEqual(before.escrows);
          expect(Object.keys((yield* contents(index)).events)).toEqual(Object.keys(before.events));
        });
      }),
      runs(40),
    );
  });

  test("without faults read only what changed, and know every event's transaction", async () => {
    await fc.assert(
      fc.asyncProperty(anyWorld, async (world) => {
        const ledger = new WeatheredChain(seededRandom(world.seed));
        await simulate(ledger, function* (index) {
          const memory = new SyncMemory();
          expect(yield* syncWith(memory, 0)).toMatchObject({ mode: "snapshot" });
          const modes: Array<string> = [];
          const sync = Effect.gen(function* () {
            modes.push((yield* syncWith(memory, 1)).mode);
          }).pipe(Effect.orDie);
          yield* play(ledger, world, sync);
          yield* sync;
          expect(new Set(modes)).toEqual(new Set(["incremental"]));
          expect(asSets(yield* contents(index))).toEqual(oracle(ledger, world) as never);
          const quiet = ledger.calls;
          yield* sync;
          // The tip, the config with the clock, and the attestor's history. No event lacks its transaction.
          expect(ledger.calls - quiet).toBeLessThanOrEqual(3 + 8);
        });
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
  ) =>
    simulate(new WeatheredChain(seededRandom(world.seed)), function* (index, ledger) {
      const [first, ...others] = world.lives;
      if (first !== undefined) ledger.create(first);
      ledger.slot += 5n;
      if (isSynced) yield* syncWith(new SyncMemory(), 0);
      const rest = { ...world, lives: others };
      yield* play(ledger, rest, Effect.void);
      const spoiled = spoil({ ledger: ledger.port, ...index });
      const exit = yield* syncWith(new SyncMemory(), 1).pipe(
        Effect.provideService(Ledger, spoiled.ledger),
        Effect.provideService(IndexReader, spoiled.reader),
        Effect.provideService(IndexWriter, spoiled.writer),
        Effect.exit,
      );
      outcome(exit);
      yield* expectMarked(index, ledger);
      yield* syncWith(new SyncMemory(), 2);
      expect((yield* index.reader.summary).mark?.count).toBe(ledger.custodyLog.count);
      yield* expectMarked(index, ledger);
      const held = asSets(yield* contents(index));
      expect(held.escrows).toEqual(new Set(ledger.escrows.values()));
    });

  type Spoiled = {
    readonly ledger: Ledger["Service"];
    readonly reader: IndexReader["Service"];
    readonly writer: IndexWriter["Service"];
  };
  /** The same ports, with `trouble` instead of the k-th call. Counts the calls. */
  const atCall =
    (k: number, trouble: "failure" | "interruption", count: { calls: number }) =>
    ({ ledger, reader, writer }: Spoiled): Spoiled => {
      const call = <A, E, R>(effect: Effect.Effect<A, E, R>, failure: E): Effect.Effect<A, E, R> =>
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
          confirmIdentity: call(ledger.confirmIdentity, rpc),
          tip: (commitment) => call(ledger.tip(commitment), rpc),
          readAccounts: (...asked) => call(ledger.readAccounts(...asked), rpc),
          history: (...asked) => call(ledger.history(...asked), rpc),
          transaction: (signature) => call(ledger.transaction(signature), rpc),
          programAccounts: (...asked) =>
            Stream.mapEffect(ledger.programAccounts(...asked), (chunk) =>
              call(Effect.succeed(chunk), rpc),
            ),
        },
        reader: {
          ...reader,
          summary: call(reader.summary, db),
          escrowsAt: (addresses) => call(reader.escrowsAt(addresses), db),
          events: (...asked) => call(reader.events(...asked), db),
          merchants: (...asked) => call(reader.merchants(...asked), db),
        },
        writer: {
          apply: (changes) => call(writer.apply(changes), db),
          merchantsAt: (addresses) => call(writer.merchantsAt(addresses), db),
          unseen: (...asked) => call(writer.unseen(...asked), db),
          build: Effect.map(call(writer.build, db), (build) => ({
            add: (rows) => call(build.add(rows), db),
            leaves: (sink) => call(build.leaves(sink), db),
            finish: (mark) => call(build.finish(mark), db),
          })),
        },
      };
    };

  test.each([
    ["failure", "first"],
    ["failure", "later"],
    ["interruption", "first"],
    ["interruption", "later"],
  ] as const)(
    "that meet a %s at the k-th call of the %s sync, for every k, leave an index at a mark or none, and the next one ends well",
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
