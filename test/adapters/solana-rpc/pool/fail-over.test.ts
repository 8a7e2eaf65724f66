import { describe, expect, test } from "bun:test";
import { Effect, Fiber, Stream } from "effect";
import { TestClock } from "effect/testing";
import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import { SYSTEM_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Broadcaster } from "../../../../ports/ledger/broadcaster.ts";
import { Ledger, MOST_DATA_BYTES } from "../../../../ports/ledger/ledger.ts";
import { configOver, failureOf, runOver, valueOf } from "../ledger-under-test.ts";
import {
  atSlot,
  type Behaviour,
  body,
  page,
  peersOfTests,
  result,
  rpcError,
  silence,
} from "../scripted-peer.ts";

const GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d";
const good = result(GENESIS);

const peerThat = peersOfTests();

const tip = (slot: number) => result({ absoluteSlot: slot, blockHeight: slot });
/** Asks a node each time. */
const askGenesis = Ledger.use((ledger) =>
  Effect.andThen(ledger.confirmIdentity, ledger.genesisHash),
);
const KIND = { program: SYSTEM_PROGRAM, length: 8, discriminator: Uint8Array.of(1) };
const readNothing = Ledger.use((ledger) => ledger.readAccounts([], "confirmed"));
const [ACCOUNT, ANOTHER, THIRD] = [1, 2, 3].map((n) =>
  addressFromBytes(new Uint8Array(32).fill(n)),
) as [Address, Address, Address];
const readOf = (address: Address) =>
  Ledger.use((ledger) => ledger.readAccounts([address], "confirmed"));
const repeat = <A, E, R>(times: number, effect: Effect.Effect<A, E, R>) =>
  Effect.all(
    Array.from({ length: times }, () => effect),
    { concurrency: "unbounded" },
  );

describe("several nodes", () => {
  test("are asked in order, and only the first while it answers", async () => {
    const [first, second] = [peerThat(good), peerThat(good)];
    await runOver(configOver([first, second]), repeat(5, askGenesis));
    expect([first.calls.length, second.calls.length]).toEqual([5, 0]);
  });

  test.each([
    ["is overloaded", page(429)],
    ["fails", page(502)],
    ["answers in HTML", page(200)],
    ["answers nonsense", body("{")],
    ["does not serve the method", rpcError(-32601)],
    ["does not know us", page(401)],
    ["lags behind", rpcError(-32016, { contextSlot: 3 })],
  ])("the next answers at once when the first %s", async (_name, behaviour) => {
    const [first, second] = [peerThat(behaviour), peerThat(good)];
    const { exit, waits } = await runOver(configOver([first, second]), askGenesis);
    expect(valueOf(exit)).toBe(GENESIS);
    expect(waits).toEqual([]);
  });

  test("skip one that failed for a while, then ask it first again", async () => {
    const [first, second] = [peerThat(page(503), good), peerThat(good)];
    const { exit } = await runOver(
      configOver([first, second]),
      Effect.gen(function* () {
        for (let i = 0; i < 3; i++) yield* askGenesis;
        const during = [first.calls.length, second.calls.length];
        yield* TestClock.adjust("200 millis");
        yield* askGenesis;
        return { during, after: [first.calls.length, second.calls.length] };
      }),
    );
    expect(valueOf(exit)).toEqual({ during: [1, 3], after: [2, 3] });
  });
});

describe("one node", () => {
  test("is asked again after waits that double, with jitter", async () => {
    const peer = peerThat(page(500), page(500), good);
    const { exit, waits } = await runOver(configOver([peer]), askGenesis);
    expect(valueOf(exit)).toBe(GENESIS);
    expect(waits).toHaveLength(2);
    const [first = 0, second = 0] = waits;
    expect(first).toBeWithin(100, 201);
    expect(second).toBeWithin(200, 401);
  });

  test("that stays away is told once, by the kind of its fault, and once more when it answers again", async () => {
    const peer = peerThat(page(500), page(500), body("{"), good);
    const { logged } = await runOver(configOver([peer], { attemptsPerNode: 5 }), askGenesis);
    const told = Array.from(
      logged.matchAll(/ledger node (paused|answers again)/g),
      ([, end]) => end,
    );
    expect(told).toEqual(["paused", "paused", "answers again"]);
  });

  test("is given up after the allowed number of requests", async () => {
    const peer = peerThat(page(500));
    const { exit } = await runOver(configOver([peer], { attemptsPerNode: 3 }), askGenesis);
    expect(failureOf(exit)).toMatchObject({ _tag: "LedgerUnavailable", retryable: true });
    expect(peer.calls).toHaveLength(3);
  });

  test("says when to return, and is not asked before", async () => {
    const peer = peerThat(page(429, { "retry-after": "7" }), good);
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        const atOnce = yield* Effect.flip(askGenesis);
        yield* TestClock.adjust("4990 millis");
        const tooEarly = yield* Effect.flip(askGenesis);
        const callsBefore = peer.calls.length;
        yield* TestClock.adjust("1500 millis");
        return { atOnce, tooEarly, callsBefore, later: yield* askGenesis };
      }),
    );
    const { atOnce, tooEarly, callsBefore, later } = valueOf(exit);
    // Seven seconds exceed a caller's patience, so no caller waits that long.
    expect([atOnce._tag, tooEarly._tag]).toEqual(["LedgerUnavailable", "LedgerUnavailable"]);
    expect(callsBefore).toBe(1);
    expect(later).toBe(GENESIS);
  });

  test("cannot keep callers away for ever with its Retry-After", async () => {
    const peer = peerThat(page(503, { "retry-after": "999999999" }), good);
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        yield* Effect.flip(askGenesis);
        yield* TestClock.adjust("5 minutes");
        return yield* askGenesis;
      }),
    );
    expect(valueOf(exit)).toBe(GENESIS);
  });

  test("a hundred requests that fail together are one failure", async () => {
    const together: Behaviour = async (call, request) => {
      await peer.received(100);
      return page(503)(call, request);
    };
    const peer = peerThat(...Array.from({ length: 100 }, () => together), good);
    const { exit, waits } = await runOver(configOver([peer]), repeat(100, askGenesis));
    expect(valueOf(exit)).toHaveLength(100);
    expect(peer.calls).toHaveLength(200);
    expect(Math.max(...waits)).toBeLessThanOrEqual(201);
  });

  test("that failed gets one request at a time until it answers", async () => {
    const gate = Promise.withResolvers<void>();
    const peer = peerThat(page(503), async (call, request) => {
      await gate.promise;
      return good(call, request);
    });
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        const first = yield* Effect.forkChild(askGenesis);
        yield* Effect.promise(() => peer.received(2));
        const others = yield* Effect.forkChild(repeat(20, askGenesis));
        // All of them wait for the probe, which has no answer yet.
        yield* TestClock.adjust("1 millis");
        const whileProbing = [peer.calls.length, peer.inFlight];
        gate.resolve();
        yield* Fiber.join(first);
        const answers = yield* Fiber.join(others);
        return { whileProbing, answers };
      }),
    );
    const { whileProbing, answers } = valueOf(exit);
    expect(whileProbing).toEqual([2, 1]);
    expect(new Set(answers)).toEqual(new Set([GENESIS]));
  });

  test("whose probe was abandoned is probed by the next caller", async () => {
    const peer = peerThat(page(503), silence(), good);
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        const leaving = yield* Effect.forkChild(askGenesis);
        yield* Effect.promise(() => peer.received(2));
        yield* Fiber.interrupt(leaving);
        return yield* askGenesis;
      }),
    );
    expect(valueOf(exit)).toBe(GENESIS);
  });

  test("that does not answer its probe does not hold others beyond their patience", async () => {
    const peer = peerThat(page(503), silence());
    const { exit } = await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        yield* Effect.forkChild(askGenesis);
        yield* Effect.promise(() => peer.received(2));
        const waiting = yield* Effect.forkChild(Effect.flip(askGenesis));
        yield* TestClock.adjust("2 seconds");
        return yield* Fiber.join(waiting);
      }),
    );
    expect(valueOf(exit)).toMatchObject({ _tag: "LedgerUnavailable", retryable: true });
    expect(peer.calls).toHaveLength(2);
  });

  test("too weak to scan a program still answers small requests", async () => {
    const peer = peerThat((call, request) =>
      (call.method === "getProgramAccounts" ? page(503) : good)(call, request),
    );
    const { exit, waits } = await runOver(
      configOver([peer], { attemptsPerNode: 1 }),
      Effect.gen(function* () {
        const ledger = yield* Ledger;
        const scan = yield* Effect.flip(Stream.runDrain(ledger.programAccounts(KIND)));
        return { scan, genesis: yield* ledger.genesisHash };
      }),
    );
    expect(valueOf(exit)).toMatchObject({ scan: { _tag: "LedgerUnavailable" }, genesis: GENESIS });
    expect(waits).toEqual([]);
  });

  test("that keeps answering slowly is given up when the whole call takes too long", async () => {
    const peer = peerThat(silence());
    const config = configOver([peer], { attemptsPerNode: 9 });
    const { exit } = await runOver(
      config,
      Effect.gen(function* () {
        const asking = yield* Effect.forkChild(askGenesis);
        for (const request of [1, 2]) {
          yield* Effect.promise(() => peer.received(request));
          yield* TestClock.adjust("4 seconds");
        }
        yield* Effect.promise(() => peer.received(3));
        yield* TestClock.adjust("2 seconds");
        return yield* Fiber.join(asking);
      }),
    );
    expect(failureOf(exit)).toMatchObject({ _tag: "LedgerTimeout", timeoutMs: 10_000 });
  });
});

describe("reads never go back in time", () => {
  test("an account is read from no slot before the one at which it was seen", async () => {
    const peer = peerThat(atSlot(50, [null]));
    await runOver(configOver([peer]), Effect.andThen(readOf(ACCOUNT), readOf(ACCOUNT)));
    const dataSlice = { offset: 0, length: MOST_DATA_BYTES };
    expect(peer.calls.map(({ params }) => params[1])).toEqual([
      { encoding: "base64", commitment: "confirmed", dataSlice },
      { encoding: "base64", commitment: "confirmed", dataSlice, minContextSlot: 50 },
    ]);
  });

  test("what is there may be shown from 32 slots before the highest one seen, and what is missing is missing there", async () => {
    const there = { lamports: 1, owner: ACCOUNT, executable: false, data: ["", "base64"] };
    const present = { ...there, rentEpoch: 0, space: 0 };
    const peer = peerThat(
      atSlot(500, [null]),
      atSlot(467, [present]),
      atSlot(468, [present]),
      atSlot(499, [null]),
      atSlot(500, [null]),
    );
    const { exit, waits } = await runOver(
      configOver([peer]),
      Effect.all([readOf(ACCOUNT), readOf(ANOTHER), readOf(THIRD)]),
    );
    expect(valueOf(exit).map(({ slot }) => slot)).toEqual([500n, 468n, 500n]);
    expect(waits).toHaveLength(2);
    expect(peer.calls.slice(1).map(({ params }) => params[1])).toMatchObject(
      Array.from({ length: 4 }, () => ({ minContextSlot: 468 })),
    );
  });

  test("a caller that names a slot needs that slot and no other", async () => {
    const peer = peerThat(atSlot(500, [null]), atSlot(400, [null]));
    const { exit } = await runOver(
      configOver([peer]),
      Effect.andThen(
        readOf(ACCOUNT),
        Ledger.use((ledger) => ledger.readAccounts([ACCOUNT], "confirmed", undefined, 400n)),
      ),
    );
    expect(valueOf(exit).slot).toBe(400n);
    expect(peer.calls[1]?.params[1]).toMatchObject({ minContextSlot: 400 });
  });

  test("the finalized slot is also the least of confirmed reads, but not the reverse", async () => {
    const peer = peerThat(result({ absoluteSlot: 70, blockHeight: 60 }), atSlot(80, []));
    await runOver(
      configOver([peer]),
      Effect.gen(function* () {
        const ledger = yield* Ledger;
        yield* ledger.tip("finalized");
        yield* ledger.readAccounts([], "confirmed");
        yield* ledger.readAccounts([], "finalized");
      }),
    );
    expect(peer.calls.slice(1).map(({ params }) => params[1])).toMatchObject([
      { commitment: "confirmed", minContextSlot: 38 },
      { commitment: "finalized", minContextSlot: 38 },
    ]);
  });

  test("an answer from a lower slot is refused, even if the node ignores minContextSlot", async () => {
    const slots = [500, 400, 499, 501];
    const peer = peerThat(...slots.map((slot) => atSlot(slot, [null])));
    const { exit, waits } = await runOver(
      configOver([peer]),
      Effect.andThen(readOf(ACCOUNT), readOf(ACCOUNT)),
    );
    expect(valueOf(exit).slot).toBe(501n);
    expect(waits).toHaveLength(2);
  });

  test("a tip below one seen before is refused", async () => {
    const peer = peerThat(tip(500), tip(0), tip(502));
    const askTip = Ledger.use((ledger) => ledger.tip("finalized"));
    const { exit } = await runOver(configOver([peer]), Effect.andThen(askTip, askTip));
    expect(valueOf(exit)).toEqual({ slot: 502n, blockHeight: 502n });
  });

  test("a tip below the slot at which a blockhash was valid is refused", async () => {
    const peer = peerThat(atSlot(500, true), tip(460), tip(501));
    const { exit } = await runOver(
      configOver([peer]),
      Effect.andThen(
        Broadcaster.use((broadcaster) => broadcaster.isBlockhashValid("hash")),
        Ledger.use((ledger) => ledger.tip("confirmed")),
      ),
    );
    expect(valueOf(exit).slot).toBe(501n);
  });

  test("a lagging node is waited for, and its circuit breaker stays closed", async () => {
    const lagging = rpcError(-32016, { contextSlot: 10 });
    const peer = peerThat(atSlot(11, []), lagging, atSlot(11, []));
    const { exit, waits, logged } = await runOver(
      configOver([peer]),
      Effect.andThen(readNothing, readNothing),
    );
    expect(valueOf(exit).slot).toBe(11n);
    expect(waits).toHaveLength(1);
    expect(logged).toBe("");
  });

  test("a node that stays behind costs no attempts, and is unavailable after the caller's patience", async () => {
    const peer = peerThat(atSlot(11, [null]), atSlot(3, [null]));
    const { exit, waits } = await runOver(
      configOver([peer]),
      Effect.andThen(readOf(ACCOUNT), readOf(ACCOUNT)),
    );
    expect(failureOf(exit)).toMatchObject({
      _tag: "LedgerUnavailable",
      retryable: true,
      cause: { _tag: "NodeUnable", kind: "behind" },
    });
    const waitedMs = waits.reduce((sum, ms) => sum + ms, 0);
    expect(waitedMs).toBeWithin(7_700, 8_001);
    expect(peer.calls).toHaveLength(waits.length + 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(250);
  });
});
