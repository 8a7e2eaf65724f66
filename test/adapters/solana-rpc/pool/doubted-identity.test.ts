import { afterEach, expect, test } from "bun:test";
import { Effect } from "effect";
import { TestClock } from "effect/testing";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { Ledger } from "../../../../ports/ledger/ledger.ts";
import { configOver, runOver, valueOf } from "../ledger-under-test.ts";
import { atSlot, type Behaviour, body, page, result, ScriptedPeer } from "../scripted-peer.ts";

const OURS = addressFromBytes(new Uint8Array(32).fill(1));
const ANOTHER = addressFromBytes(new Uint8Array(32).fill(2));

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

const read = Ledger.use((ledger) => ledger.readAccounts([], "finalized"));
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
