import type { SyncMark, TimedSlot } from "./sync-mark.ts";

/** No ledger of this kind has come near this speed; 2.5 slots a second is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** Tolerance for a wrong or adjusted clock: over four days of slots. */
const SLOT_SLACK = 1_000_000n;
/** The first ledger of this kind began on 16 March 2020. */
const FIRST_LEDGER: TimedSlot = { slot: 0n, atMs: 1_584_316_800_000 };

/** The slot and time from which slots above a mark are judged. */
const judgedFrom = (mark: SyncMark | null, nowMs: number): TimedSlot => {
  const from = mark === null ? FIRST_LEDGER : (mark.paceFrom ?? mark);
  // After the clock was set back nobody knows how long ago that was.
  return from.atMs > nowMs ? { slot: mark?.slot ?? 0n, atMs: nowMs } : from;
};

const paced = ({ slot, atMs }: TimedSlot, nowMs: number): bigint =>
  slot + BigInt(Math.ceil(((nowMs - atMs) / 1000) * MOST_SLOTS_A_SECOND));

/** The highest slot that the ledger can have reached at a time, given the mark before; `nowMs` in unix milliseconds. */
export const highestPlausibleSlot = (mark: SyncMark | null, nowMs: number): bigint =>
  paced(judgedFrom(mark, nowMs), nowMs) + SLOT_SLACK;

/**
 * The `paceFrom` of the mark that follows another one, at a slot read at `nowMs`. A slot that needs the slack is not
 * measured from: otherwise false slots would be granted it anew, each from the one before.
 */
export const nextPaceFrom = (mark: SyncMark | null, slot: bigint, nowMs: number): TimedSlot => {
  const from = judgedFrom(mark, nowMs);
  return slot <= paced(from, nowMs) ? { slot, atMs: nowMs } : from;
};
