import { expect, test } from "bun:test";
import { HighestSlots } from "../../../../adapters/solana-rpc/pool/highest-slots.ts";

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
