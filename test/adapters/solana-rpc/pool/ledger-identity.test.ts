import { afterEach, describe, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { LedgerRecord } from "../../../../ports/ledger/ledger-record.ts";
import { type Answer, runSimulated, type TimedCall } from "./simulated/virtual-run.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import { atSlot, type Behaviour, body, page, result, ScriptedPeer } from "../scripted-peer.ts";

const OURS = addressFromBytes(new Uint8Array(32).fill(1));

const ANOTHER = addressFromBytes(new Uint8Array(32).fill(2));

/** One address, behind which the ledger can be changed. */
const node = () => {
  const state = { genesis: OURS, slot: 100, asked: [] as Array<string> };
  const answer = ({ method }: TimedCall): Answer => {
    state.asked.push(method);
    return method === "getGenesisHash"
      ? { result: state.genesis }
      : { result: { context: { slot: state.slot }, value: [] } };
  };
  return { state, answer };
};

const read = Ledger.use((ledger) => ledger.readAccounts([], "finalized"));

test("another ledger behind the one address is noticed within a minute, and closed until the right one is back", async () => {
  const { state, answer } = node();
  const seen = await runSimulated(
    answer,
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const recorded = yield* ledger.genesisHash;
      yield* read;
      state.genesis = ANOTHER;
      state.slot = 5000;
      yield* Effect.sleep("61 seconds");
      const swapped = yield* Effect.flip(read);
      const told = yield* ledger.genesisHash;
      state.genesis = OURS;
      state.slot = 250;
      yield* Effect.sleep("61 seconds");
      return { recorded, swapped, told, after: yield* read };
    }),
  );
  expect(seen).toMatchObject({
    recorded: OURS,
    swapped: {
      _tag: "LedgerUnavailable",
      fault: { method: "getGenesisHash", kind: "wrong_ledger" },
    },
    told: OURS,
    // The other ledger's slot has moved nothing.
    after: { slot: 250n },
  });
}, 60_000);

test.each([
  ["far ahead", 2_000_000],
  ["far behind", 3],
])(
  "another ledger whose slots are %s is named by the read that sees them",
  async (_, slot) => {
    const { state, answer } = node();
    state.slot = 1000;
    const failure = await runSimulated(
      answer,
      Effect.gen(function* () {
        const ledger = yield* Ledger;
        yield* ledger.genesisHash;
        yield* read;
        yield* Effect.sleep("10 seconds");
        state.genesis = ANOTHER;
        state.slot = slot;
        return yield* Effect.flip(read);
      }),
    );
    expect(failure).toMatchObject({ _tag: "LedgerUnavailable", fault: { kind: "wrong_ledger" } });
  },
  60_000,
);

test("a node that lags shows its genesis hash once in five seconds at most", async () => {
  const { state, answer } = node();
  state.slot = 1000;
  await runSimulated(
    answer,
    Effect.gen(function* () {
      yield* Ledger.use((ledger) => ledger.genesisHash);
      yield* read;
      yield* Effect.sleep("6 seconds");
      state.slot = 990;
      // A read waits eight seconds for a node that is behind, and asks it every 100 to 250 ms.
      yield* Effect.flip(Ledger.use((ledger) => ledger.readAccounts([], "finalized", 0, 1000n)));
    }),
  );
  const hashes = state.asked.filter((method) => method === "getGenesisHash");
  expect(hashes.length).toBeLessThanOrEqual(1 + 2);
  expect(state.asked.length).toBeGreaterThan(30);
}, 60_000);

test("a sync and a packet notice it at once", async () => {
  const { state, answer } = node();
  const failure = await runSimulated(
    answer,
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      yield* ledger.genesisHash;
      state.genesis = ANOTHER;
      return yield* Effect.flip(ledger.confirmIdentity);
    }),
  );
  expect(failure).toMatchObject({ _tag: "LedgerUnavailable", fault: { kind: "wrong_ledger" } });
});

test("a node is asked for its genesis hash once a minute, not for each request", async () => {
  const { state, answer } = node();
  await runSimulated(
    answer,
    Effect.gen(function* () {
      yield* Ledger.use((ledger) => ledger.genesisHash);
      for (let n = 0; n < 20; n++) yield* read;
      yield* Effect.sleep("61 seconds");
      yield* Effect.all([read, read, read], { concurrency: "unbounded" });
    }),
  );
  expect(state.asked.filter((method) => method === "getGenesisHash")).toHaveLength(2);
}, 60_000);

test("a genesis hash that a store recorded counts without a node, and only a node of that ledger confirms it", async () => {
  const { state, answer } = node();
  state.genesis = ANOTHER;
  const standing = Effect.flatMap(LedgerRecord, (record) => record.state);
  const seen = await runSimulated(
    answer,
    Effect.gen(function* () {
      const ledger = yield* Ledger;
      const unknown = yield* standing;
      yield* LedgerRecord.use(({ adopt }) => adopt(OURS));
      const recorded = yield* standing;
      const swapped = yield* Effect.flip(read);
      const contradicted = yield* standing;
      state.genesis = OURS;
      yield* Effect.sleep("61 seconds");
      yield* ledger.confirmIdentity;
      return { unknown, recorded, swapped, contradicted, confirmed: yield* standing };
    }),
  );
  expect(seen).toMatchObject({
    unknown: { genesisHash: null, standing: "unknown" },
    recorded: { genesisHash: OURS, standing: "recorded" },
    swapped: { _tag: "LedgerUnavailable", fault: { kind: "wrong_ledger" } },
    contradicted: { genesisHash: OURS, standing: "contradicted" },
    confirmed: { genesisHash: OURS, standing: "confirmed" },
  });
  expect(state.asked).not.toContain("getMultipleAccounts");
}, 60_000);

describe("doubted identity", () => {
  let opened: ScriptedPeer | undefined;

  afterEach(() => opened?.[Symbol.dispose]());

  /** Behind this address a test changes what the node shows as its genesis hash, and what it answers to a read. */
  const node = () => {
    const state: { genesis: Behaviour; read: Behaviour } = {
      genesis: result(OURS),
      read: atSlot(100, []),
    };
    const peer = new ScriptedPeer((call, request) =>
      (call.method === "getGenesisHash" ? state.genesis : state.read)(call, request),
    );
    opened = peer;
    return { state, peer, asked: () => peer.calls.splice(0).map(({ method }) => method) };
  };

  const HASH = "getGenesisHash";

  const READ = "getMultipleAccounts";

  /** Runs on the node as the only one of a ledger whose genesis hash is recorded. */
  const run = async <A, E>(peer: ScriptedPeer, effect: Effect.Effect<A, E, Ledger>) =>
    valueOf(
      (await runOver(configOver([peer], { genesisHash: OURS, attemptsPerNode: 1 }), effect)).exit,
    );

  test("a node that could not be reached shows its genesis hash again before it is asked anything else", async () => {
    const { state, peer, asked } = node();
    await run(
      peer,
      Effect.gen(function* () {
        yield* read;
        expect(asked()).toEqual([HASH, READ]);
        state.read = () => new Response("cut off", { headers: { "content-encoding": "gzip" } });
        expect(yield* Effect.flip(read)).toMatchObject({ fault: { kind: "unreachable" } });
        expect(asked()).toEqual([READ]);
        // Meanwhile another ledger's node takes its address. The minute for which a hash is believed is not over.
        state.genesis = result(ANOTHER);
        state.read = atSlot(101, []);
        yield* TestClock.adjust("5 seconds");
        expect(yield* Effect.flip(read)).toMatchObject({ fault: { kind: "wrong_ledger" } });
        expect(asked()).toEqual([HASH]);
      }),
    );
  });

  test.each<readonly [string, Behaviour, string]>([
    ["does not answer the question", page(503), "http_status"],
    ["answers with no hash", result("no hash"), "malformed"],
    ["answers with no JSON", body("<html>"), "not_json"],
    ["shows another ledger's", result(ANOTHER), "wrong_ledger"],
  ])(
    "a node whose genesis hash is due and that %s is asked nothing else until it shows it",
    async (_name, genesis, kind) => {
      const { state, peer, asked } = node();
      await run(
        peer,
        Effect.gen(function* () {
          yield* read;
          state.genesis = genesis;
          yield* TestClock.adjust("60 seconds");
          asked();
          for (let times = 0; times < 3; times++) {
            expect(yield* Effect.flip(read)).toMatchObject({ fault: { kind } });
            // A longer wait than its cool-down, and less than a minute.
            yield* TestClock.adjust("15 seconds");
          }
          expect(new Set(asked())).toEqual(new Set([HASH]));
          state.genesis = result(OURS);
          yield* TestClock.adjust("15 seconds");
          expect((yield* read).slot).toBe(100n);
          expect(asked()).toEqual([HASH, READ]);
        }),
      );
    },
  );
});
