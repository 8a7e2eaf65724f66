import type { LedgerTime } from "./ledger-time.ts";

/** Length of a slot in milliseconds (Agave `clock.rs`: DEFAULT_MS_PER_SLOT). */
export const SLOT_MS = 400;
/** Slots of an epoch (Agave `clock.rs`: DEFAULT_SLOTS_PER_EPOCH). This ledger has no warm-up epochs. */
export const SLOTS_PER_EPOCH = 432_000;

/**
 * Slots as a pure function of time: slot n begins at genesis + n * slot length. Every slot holds one block, so block
 * height and slot are the same number. There is no timer, so an idle ledger costs nothing.
 */
export const slotClock = (genesisMs: number, time: LedgerTime, slotMs: number) => {
  const startMs = (slot: number) => genesisMs + slot * slotMs;
  const currentSlot = () => Math.max(0, Math.floor((time.nowMs() - genesisMs) / slotMs));
  return {
    currentSlot,
    /** Unix seconds at which the slot began. */
    unixTime: (slot: number) => Math.floor(startMs(slot) / 1000),
    /** Milliseconds until the slot is over, at least 0. */
    msUntilEnd: (slot: number) => Math.max(0, startMs(slot + 1) - time.nowMs()),
  };
};

/** See `slotClock`. */
export type SlotClock = ReturnType<typeof slotClock>;
