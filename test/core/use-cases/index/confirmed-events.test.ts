import { describe, expect, test } from "bun:test";
import { Effect, Queue } from "effect";
import { TestClock } from "effect/testing";
import { SLOT, creating, settling, told, run } from "./confirmed-world.ts";

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
