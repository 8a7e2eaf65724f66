import { expect, test } from "bun:test";
import { Effect, Layer, Logger } from "effect";
import { HighestSlots } from "../../../../adapters/solana-rpc/pool/highest-slots.ts";
import { ledgerFloorSolanaRpc } from "../../../../adapters/solana-rpc/ledger-nodes-solana-rpc.ts";
import { ledgerSolanaRpc } from "../../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../../adapters/solana-rpc/pool/node-pool.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import { Ledger, LedgerFloor } from "../../../../ports/ledger/ledger.ts";
import { configOver, virtualTime } from "../ledger-under-test.ts";
import { atSlot, ScriptedPeer } from "../scripted-peer.ts";

const ACCOUNT = "an account";

const NONE = { present: 0, absent: 0 };

/** What is known of slots, on clocks that the test moves. */
const slotsAt = (wallMs = 1_800_000_000_000) => {
  const clocks = { monotonicMs: 0, wallMs };
  const slots = new HighestSlots({
    monotonicTimeNanosUnsafe: () => BigInt(clocks.monotonicMs) * 1_000_000n,
    currentTimeMillisUnsafe: () => clocks.wallMs,
  });
  return { clocks, slots };
};

test("a slot that no node shows is dropped two minutes after it was first missed, and not before", () => {
  const { clocks, slots } = slotsAt();
  slots.saw("finalized", 1000);
  clocks.monotonicMs = 500_000;
  slots.missed();
  clocks.monotonicMs += 119_999;
  slots.missed();
  expect(slots.at("finalized")).toBe(1000);
  clocks.monotonicMs += 1;
  slots.missed();
  expect(slots.at("finalized")).toBe(0);
});

test("the two minutes begin anew with each slot that a node shows", () => {
  const { clocks, slots } = slotsAt();
  slots.saw("confirmed", 1000);
  slots.missed();
  clocks.monotonicMs = 119_000;
  slots.saw("confirmed", 990);
  clocks.monotonicMs = 130_000;
  slots.missed();
  expect(slots.at("confirmed")).toBe(1000);
  clocks.monotonicMs += 120_000;
  slots.missed();
  expect(slots.at("confirmed")).toBe(0);
});

test("with the slot everything is dropped that rests on the same claims", () => {
  const { clocks, slots } = slotsAt();
  slots.newestTip("confirmed", { slot: 9000, blockHeight: 8000 });
  slots.newestTip("finalized", { slot: 8900, blockHeight: 7900 });
  slots.floors.saw("finalized", [ACCOUNT], 8900);
  slots.shownUpTo(8950);
  slots.sawValidBlockhash(9500);
  expect(slots.awaitsTip("confirmed")).toBe(true);
  slots.missed();
  clocks.monotonicMs = 120_000;
  slots.missed();
  for (const commitment of ["confirmed", "finalized"] as const) {
    expect(slots.at(commitment)).toBe(0);
    expect(slots.lowestTip(commitment)).toBe(0);
    expect(slots.boundsOf(commitment, [ACCOUNT])).toEqual(NONE);
    const tip = { slot: 10, blockHeight: 9 };
    expect(slots.newestTip(commitment, tip)).toEqual(tip);
  }
  expect(slots.awaitsTip("confirmed")).toBe(false);
  // The next slot is the first one again, so it sets what the ledger can have reached.
  expect(slots.judge(0, 20_000)).toBe("slot_beyond_reach");
});

test("after a drop the first slot that is shown may be any", () => {
  const { clocks, slots } = slotsAt();
  slots.saw("confirmed", 1000);
  slots.missed();
  clocks.monotonicMs = 120_000;
  slots.missed();
  expect(slots.judge(0, 10 ** 12)).toBe("fine");
});

test("a slot is believed up to ten a second and 10,000 beyond the first, by the clock that moved further", () => {
  const { clocks, slots } = slotsAt();
  const highest = () => {
    const fine = [...Array(40_000).keys()].filter((slot) => slots.judge(0, slot) === "fine");
    return fine.at(-1);
  };
  slots.saw("confirmed", 1000);
  expect(highest()).toBe(11_000);
  clocks.monotonicMs = 1000;
  expect(highest()).toBe(11_010);
  // The machine slept: the monotonic clock stood still.
  clocks.wallMs += 60_000;
  expect(highest()).toBe(11_600);
  clocks.wallMs -= 3_600_000;
  expect(highest()).toBe(11_010);
});

const present = {
  lamports: 1,
  owner: TOKEN_PROGRAM,
  executable: false,
  data: ["", "base64"],
  rentEpoch: 0,
  space: 0,
};

/** The slots of two reads, with the floor raised in between. */
const slotsAround = async (raised: bigint, ...slots: ReadonlyArray<number>) => {
  using peer = new ScriptedPeer(...slots.map((slot) => atSlot(slot, [present])));
  const layer = Layer.mergeAll(ledgerSolanaRpc, ledgerFloorSolanaRpc).pipe(
    Layer.provide(nodePool(configOver([peer]))),
    Layer.provideMerge(virtualTime(1000, [])),
    Layer.provideMerge(Logger.layer([])),
  );
  const read = Ledger.use((ledger) => ledger.readAccounts([TOKEN_PROGRAM], "confirmed"));
  const run = Effect.gen(function* () {
    const before = yield* read;
    yield* LedgerFloor.use(({ raise }) => raise(raised));
    return [before.slot, (yield* read).slot];
  });
  return await Effect.runPromise(Effect.provide(run, layer));
};

test("what the index has shown is not read from before it, though a node would answer", async () => {
  expect(await slotsAround(120n, 100, 119, 120)).toEqual([100n, 120n]);
});

test("a slot that the ledger cannot have reached keeps nobody out", async () => {
  expect(await slotsAround(10n ** 12n, 100, 101)).toEqual([100n, 101n]);
});
