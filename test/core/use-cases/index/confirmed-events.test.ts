import { describe, expect, test } from "bun:test";
import { Effect, Fiber, Layer, Logger, Queue, Stream } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { sha256 } from "../../../../core/domain/sha256.ts";
import { eventLeafOf } from "../../../../core/log/leaf/event-leaf.ts";
import { leafHash } from "../../../../core/log/tree/tree-hash.ts";
import {
  ConfirmedEvents,
  makeConfirmedEvents,
} from "../../../../core/use-cases/index/confirmed/confirmed-events.ts";
import {
  followConfirmed,
  type FollowedChange,
} from "../../../../core/use-cases/index/confirmed/follow-confirmed.ts";
import { IndexGrowth, makeIndexGrowth } from "../../../../core/use-cases/index/follow-events.ts";
import { SyncMemory } from "../../../../core/use-cases/index/sync/ledger/sync-memory.ts";
import { custodyConfigAddress } from "../../../../core/protocol/addresses/addresses.ts";
import { ConfirmedHistory, ConfirmedSignals } from "../../../../ports/ledger/confirmed-ledger.ts";
import type { LedgerSignal } from "../../../../ports/ledger/ledger-signals.ts";
import { Instance } from "../../../../ports/instance.ts";
import { Ledger, LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { seededRandom } from "../../../arbitraries/seeded-random.ts";
import { noArchive, noNews, nothingKept } from "../../../doubles/nothing-kept.ts";
import { ONE_NODE } from "../../../doubles/one-node.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";
import { pendingOf, worldEscrow } from "../../../simulation/world-escrow.ts";
import { ForkingChain } from "../../../world/forking-chain.ts";
import { ledgerPort, partsOf } from "../../../world/ledger-port.ts";
import { testInstance } from "../test-instance.ts";
import { syncWith } from "./simulated-sync.ts";

const START_MS = 1_800_000_000_000;
const SLOT = "400 millis";

/** A ledger that forks, a service's index of it, and what its streams tell. */
const worldOf = Effect.gen(function* () {
  yield* TestClock.setTime(START_MS);
  const ledger = new ForkingChain();
  const signals = yield* Queue.unbounded<LedgerSignal>();
  const asked = { lists: 0, transactions: 0, accounts: 0 };
  const state = { isLive: true };
  const port = ledgerPort(partsOf(ledger.view));
  const services = Layer.mergeAll(
    Layer.succeed(Ledger, {
      ...port,
      readAccounts: (...of) => {
        if (of[1] === "confirmed") asked.accounts += 1;
        return port.readAccounts(...of);
      },
    }),
    Layer.succeed(LedgerNodes, ONE_NODE),
    Layer.succeed(Instance, testInstance()),
    Layer.succeed(ConfirmedSignals, {
      changes: Stream.fromQueue(signals),
      standing: Effect.sync(() => ({ isLive: state.isLive, isSilent: false, failures: 0 })),
    }),
    Layer.succeed(ConfirmedHistory, {
      recent: (address) =>
        Effect.sync(() => {
          asked.lists += 1;
          return ledger.current.newestOf(address, ledger.current.slot, null, 1000);
        }),
      transaction: (signature) =>
        Effect.sync(() => {
          asked.transactions += 1;
          return ledger.current.transaction(signature) ?? null;
        }),
    }),
    indexMemory(),
    nothingKept,
    noArchive,
    noNews,
    Logger.layer([]),
  );
  const context = yield* Layer.build(
    Layer.effect(ConfirmedEvents, makeConfirmedEvents).pipe(
      Layer.provideMerge(Layer.effect(IndexGrowth, makeIndexGrowth)),
      Layer.provideMerge(services),
    ),
  );
  const memory = new SyncMemory();
  /** What the ledger has numbered now: the hash of each event's leaf, by its number. */
  const leafAt = (position: bigint): string | undefined => {
    const event = ledger.current.custodyLog.events[Number(position) - 1];
    return (
      event &&
      hash32FromBytes(
        leafHash(eventLeafOf(event.state, addressToBytes(event.address), sha256(event.data))),
      )
    );
  };
  const { deployment } = testInstance();
  /** A node tells of every transaction in this slot, or of those that `isHeard` lets pass. */
  const tell = (isHeard: () => boolean = () => true) =>
    Effect.forEach(
      ledger.current.transactions.filter(({ slot }) => slot === ledger.current.slot),
      ({ signature, slot }) =>
        isHeard()
          ? Queue.offer(signals, {
              signature,
              slot,
              names: custodyConfigAddress(deployment).address,
            })
          : Effect.void,
      { discard: true },
    );
  /** A stream, read for as long as it is not ended. */
  const open = (after: bigint | null = null) =>
    Effect.gen(function* () {
      const heard: Array<FollowedChange> = [];
      const wrong: Array<string> = [];
      const follower = yield* followConfirmed({}, after);
      const reading = yield* Effect.forkChild(
        Effect.gen(function* () {
          for (;;) {
            const changes = yield* follower.next;
            for (const change of changes) {
              heard.push(change);
              const { position, leafHash: leaf } = change.event;
              const isThere = leafAt(position) === leaf;
              if (isThere === (change.finality === "retracted"))
                wrong.push(`${change.finality} ${position} ${leaf}`);
            }
            if (changes.length === 0) yield* follower.grown;
          }
        }),
        { startImmediately: true },
      );
      return {
        heard,
        wrong,
        /** The events that stand for this stream, by their numbers. */
        standing: () => {
          const now = new Map<bigint, string>();
          for (const { finality, event } of heard)
            if (finality !== "retracted") now.set(event.position, event.leafHash);
            else if (now.get(event.position) === event.leafHash) now.delete(event.position);
          return now;
        },
        finals: () => heard.filter(({ finality }) => finality === "final"),
        end: Effect.suspend(() => {
          follower.close();
          return Fiber.interrupt(reading);
        }),
        isOver: () => reading.pollUnsafe() !== undefined,
      };
    }).pipe(Effect.provide(context));
  return {
    ledger,
    asked,
    state,
    signals,
    leafAt,
    tell,
    open,
    sync: syncWith(memory).pipe(Effect.provide(context)),
  };
});

type World = Effect.Success<typeof worldOf>;

const run = <A, E>(steps: (world: World) => Effect.Effect<A, E>): Promise<A> =>
  Effect.runPromise(
    Effect.flatMap(worldOf, steps).pipe(Effect.scoped, Effect.provide(patientClock())),
  );

const creating =
  (number: number) =>
  (chain: ForkingChain["current"]): void =>
    chain.create([pendingOf(worldEscrow(number))]);
/** Settles an escrow, where this fork has it and it is not one that stays open. */
const settling =
  (number: number) =>
  (chain: ForkingChain["current"]): void => {
    const row = worldEscrow(number);
    const isOpen = chain.escrows.get(row.address)?.state === "Pending";
    if (isOpen && row.state !== "Pending") chain.settle(row);
  };

const told = (stream: { readonly heard: ReadonlyArray<FollowedChange> }) =>
  stream.heard.map(({ finality, event }) => `${finality} ${event.position}`);

describe("confirmed events", () => {
  test("an event is told when it is confirmed, and again when it is final, with its transaction", () =>
    run(({ ledger, open, sync, tell, leafAt }) =>
      Effect.gen(function* () {
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        ledger.land(creating(1));
        ledger.land(settling(1));
        yield* tell();
        yield* TestClock.adjust(0);
        expect(told(stream)).toEqual(["confirmed 1", "confirmed 2"]);
        const [first] = stream.heard;
        expect(first?.event).toMatchObject({
          leafHash: leafAt(1n),
          slot: 1040n,
          signature: ledger.current.transactions[0]?.signature,
        });
        yield* sync;
        yield* TestClock.adjust("1 second");
        expect(stream.finals()).toEqual([]);
        ledger.pass(40);
        yield* sync;
        yield* TestClock.adjust("1 second");
        expect(told(stream).slice(2)).toEqual(["final 1", "final 2"]);
        expect(stream.heard[2]?.event).toEqual(stream.heard[0]?.event);
        yield* stream.end;
      }),
    ));

  test("a late reader gets what is confirmed and not final, and one that comes back loses and doubles nothing", () =>
    run(({ ledger, open, sync, tell }) =>
      Effect.gen(function* () {
        ledger.land(creating(2));
        ledger.pass(40);
        yield* sync;
        const first = yield* open(0n);
        ledger.land(creating(3));
        yield* tell();
        yield* TestClock.adjust(SLOT);
        const late = yield* open();
        yield* TestClock.adjust(SLOT);
        expect(told(first)).toEqual(["final 1", "confirmed 2"]);
        expect(told(late)).toEqual(["confirmed 2"]);
        yield* late.end;
        ledger.pass(40);
        yield* sync;
        ledger.land(creating(4));
        yield* tell();
        yield* TestClock.adjust(SLOT);
        const back = yield* open(1n);
        yield* TestClock.adjust(SLOT);
        expect(told(back).toSorted()).toEqual(["confirmed 3", "final 2"]);
        yield* Effect.forEach([first, back], ({ end }) => end);
      }),
    ));

  test("what a fork undoes is retracted at once, before what comes in its place", () =>
    run(({ ledger, open, sync, tell }) =>
      Effect.gen(function* () {
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        ledger.land(creating(1));
        ledger.pass(1);
        ledger.land(creating(2));
        ledger.land(creating(3));
        yield* tell(() => true);
        yield* TestClock.adjust(SLOT);
        ledger.fork(1);
        ledger.land(creating(3));
        yield* tell();
        yield* TestClock.adjust(SLOT);
        expect(told(stream)).toEqual([
          "confirmed 1",
          "confirmed 2",
          "confirmed 3",
          "retracted 3",
          "retracted 2",
          "confirmed 2",
        ]);
        expect(stream.wrong).toEqual([]);
        yield* stream.end;
      }),
    ));

  test("a fork that nobody tells of is retracted before the final event", () =>
    run(({ ledger, open, sync, tell, signals }) =>
      Effect.gen(function* () {
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        ledger.land(creating(1));
        yield* tell();
        yield* TestClock.adjust(SLOT);
        ledger.fork(0);
        ledger.land(creating(2));
        ledger.pass(40);
        yield* sync;
        yield* TestClock.adjust("1 second");
        expect(told(stream)).toEqual(["confirmed 1", "retracted 1", "final 1"]);
        expect(yield* Queue.size(signals)).toBe(0);
        yield* stream.end;
      }),
    ));

  test("nobody asks a node without a stream, and at rest a stream costs a read in ten seconds, without signals one a second", () =>
    run(({ ledger, open, sync, asked, state }) =>
      Effect.gen(function* () {
        ledger.land(creating(1));
        ledger.pass(40);
        yield* sync;
        yield* TestClock.adjust("1 hour");
        expect(asked).toEqual({ lists: 0, transactions: 0, accounts: 0 });
        const streams = [yield* open(), yield* open()];
        for (let n = 0; n < 60; n++) yield* TestClock.adjust("10 seconds");
        expect(asked.accounts).toBeLessThanOrEqual(62);
        expect([asked.lists, asked.transactions]).toEqual([0, 0]);
        state.isLive = false;
        yield* TestClock.adjust("10 seconds");
        const before = asked.accounts;
        for (let n = 0; n < 60; n++) yield* TestClock.adjust("1 second");
        expect(asked.accounts - before).toBe(60);
        yield* Effect.forEach(streams, ({ end }) => end);
        const { accounts } = asked;
        yield* TestClock.adjust("1 hour");
        expect(asked.accounts).toBe(accounts);
      }),
    ));

  test("transactions that name the program and make no event cost a read in two seconds, and delay no event for longer", () =>
    run(({ ledger, open, sync, tell, asked }) =>
      Effect.gen(function* () {
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        const flood = Effect.fnUntraced(function* (slots: number) {
          for (let slot = 0; slot < slots; slot++) {
            ledger.pass(1);
            for (let n = 0; n < 3; n++) ledger.current.spam(false);
            yield* tell();
            yield* TestClock.adjust(SLOT);
          }
        });
        yield* flood(20);
        const before = { ...asked };
        // Five minutes of them.
        yield* flood(750);
        expect(asked.accounts - before.accounts).toBeLessThanOrEqual(160);
        expect(asked.transactions).toBe(before.transactions);
        expect(asked.lists).toBe(0);
        ledger.land(creating(1));
        yield* tell();
        yield* flood(5);
        expect(told(stream)).toEqual(["confirmed 1"]);
        yield* stream.end;
      }),
    ));

  test("without signals events are found within a second", () =>
    run(({ ledger, open, sync, state }) =>
      Effect.gen(function* () {
        state.isLive = false;
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        ledger.land(creating(1));
        yield* TestClock.adjust("1 second");
        expect(told(stream)).toEqual(["confirmed 1"]);
        yield* stream.end;
      }),
    ));

  test("of more events than are kept, the others come once they are final", () =>
    run(({ ledger, sync, tell, open }) =>
      Effect.gen(function* () {
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        // More than are kept until they are final: the others come once they are.
        for (let n = 0; n < 5000; n++) {
          ledger.land(creating(n));
          if (n % 500 !== 499) continue;
          yield* tell();
          yield* TestClock.adjust(SLOT);
          ledger.pass(1);
        }
        expect(stream.heard).toHaveLength(4096);
        ledger.pass(40);
        yield* sync;
        for (let n = 0; n < 60; n++) yield* TestClock.adjust("1 second");
        expect(stream.finals().map(({ event }) => Number(event.position))).toEqual(
          Array.from({ length: 5000 }, (_, n) => n + 1),
        );
        yield* stream.end;
      }),
    ));
});

const FORKS_OF_ONE = 10;
/** Forks in all, over ledgers of ten forks each. */
const FORKS = Number(process.env["FORKS"] ?? 200);

test(`${FORKS} forks: each retraction is right, each final event comes once, and what is told stands`, async () => {
  let retracted = 0;
  for (let seed = 1; seed <= FORKS / FORKS_OF_ONE; seed++) {
    await run(({ ledger, open, sync, tell, leafAt }) =>
      Effect.gen(function* () {
        const random = seededRandom(seed);
        const below = (end: number) => Math.floor(random() * end);
        let number = 0;
        yield* sync;
        const stream = yield* open();
        yield* TestClock.adjust(SLOT);
        /** A reader that reconnects often, and the final events that it has had. */
        let guest = yield* open();
        const guestFinals: Array<bigint> = [];
        const note = () => {
          guestFinals.push(...guest.finals().map(({ event }) => event.position));
          // It may be shown what a fork that nobody has told of yet undoes.
          return guest.wrong.filter((each) => !each.startsWith("confirmed"));
        };
        const where = () => `seed ${seed}`;
        for (let own = 0; own < FORKS_OF_ONE;) {
          ledger.pass(1 + below(12));
          const acts = Array.from({ length: below(4) }, () =>
            random() < 0.6 || number === 0 ? creating(number++) : settling(below(number)),
          );
          if (random() < 0.5 && ledger.unfinal.length > 0) {
            own += 1;
            const undone = ledger.fork(below(ledger.unfinal.length));
            // Some of what was undone lands again, in another order.
            const again = undone.filter(() => random() < 0.6);
            for (const act of [...acts, ...again].sort(() => random() - 0.5)) {
              try {
                ledger.land(act);
              } catch (cause) {
                throw new Error(where(), { cause });
              }
            }
          } else for (const act of acts) ledger.land(act);
          const hearing = random() < 0.7 ? 1 : 0.4;
          let isAllHeard = true;
          yield* tell(() => {
            const isHeard = random() < hearing;
            isAllHeard &&= isHeard;
            return isHeard;
          });
          if (ledger.current.transactions.every(({ slot }) => slot < ledger.current.slot))
            isAllHeard = false;
          yield* TestClock.adjust(SLOT);
          if (random() < 0.5) yield* sync;
          yield* TestClock.adjust(SLOT);
          if (isAllHeard) {
            const events = ledger.current.custodyLog.events.length;
            const expected = Array.from({ length: events }, (_, n) => leafAt(BigInt(n + 1)));
            const standing = stream.standing();
            expect([where(), [...standing.keys()].length]).toEqual([where(), events]);
            expect(expected.map((_, n) => standing.get(BigInt(n + 1)))).toEqual(expected);
          }
          if (random() < 0.3) {
            expect([where(), ...note()]).toEqual([where()]);
            yield* guest.end;
            guest = yield* open(guestFinals.at(-1) ?? 0n);
          }
        }
        ledger.pass(40);
        yield* sync;
        for (let n = 0; n < 12; n++) yield* TestClock.adjust("1 second");
        expect([where(), ...stream.wrong, ...note()]).toEqual([where()]);
        const all = Array.from(ledger.current.custodyLog.events, (_, n) => BigInt(n + 1));
        expect(stream.finals().map(({ event }) => event.position)).toEqual(all);
        expect(guestFinals).toEqual(all);
        for (const { event } of stream.finals())
          expect(event.leafHash as string).toBe(leafAt(event.position) ?? "none");
        // Whatever was confirmed has become final or was retracted, the last word of each leaf.
        const last = new Map(
          stream.heard.map(({ finality, event }) => [
            `${event.position} ${event.leafHash}`,
            finality,
          ]),
        );
        for (const [leaf, finality] of last) {
          const [position = "0", hash] = leaf.split(" ");
          expect([leaf, finality]).toEqual([
            leaf,
            leafAt(BigInt(position)) === hash ? "final" : "retracted",
          ]);
        }
        retracted += stream.heard.filter(({ finality }) => finality === "retracted").length;
        expect(stream.isOver()).toBe(false);
        yield* Effect.forEach([stream, guest], ({ end }) => end);
      }),
    );
  }
  expect(retracted).toBeGreaterThan(FORKS / 2);
});

test("a stream that has ended leaves nobody watching", () =>
  run(({ open, asked }) =>
    Effect.gen(function* () {
      const stream = yield* open();
      yield* stream.end;
      yield* TestClock.adjust("1 hour");
      const { accounts } = asked;
      yield* TestClock.adjust("1 hour");
      expect(asked.accounts).toBe(accounts);
    }),
  ));
