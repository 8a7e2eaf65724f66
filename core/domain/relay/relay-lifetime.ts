import type { RelayEntry } from "./relay-entry.ts";

/** Blocks for which a blockhash stays valid (Agave `clock.rs`: MAX_PROCESSING_AGE). */
export const BLOCKHASH_AGE = 150n;

/** Slots in which a ledger makes `BLOCKHASH_AGE` blocks, though every second slot has none. */
const BLOCKHASH_SLOTS = 2n * BLOCKHASH_AGE;

/** A finalized tip: a slot and the number of blocks up to it. */
export type FinalizedTip = { readonly slot: bigint; readonly blockHeight: bigint };

/**
 * The first slot that can hold the transaction. Its payer may have sent it elsewhere before this relay took it on, but not
 * before its blockhash existed.
 */
export const firstPossibleSlot = ({ openedAtSlot }: RelayEntry): bigint =>
  openedAtSlot > BLOCKHASH_SLOTS ? openedAtSlot - BLOCKHASH_SLOTS : 0n;

/**
 * Whether a tip, read before the transaction was looked up, is this number of blocks beyond its last valid one. Never
 * when the height grew by more than the slots did since the transaction was taken on: each block takes a slot, so one of
 * the two is false. Honest nodes show that only after a fork dropped the block of that time, and only until as many
 * slots without a block have passed: slot and height come from one answer.
 */
export const isBeyondLifetime = (
  { openedAtSlot, lastValidBlockHeight }: RelayEntry,
  { slot, blockHeight }: FinalizedTip,
  blocks = 0n,
): boolean => {
  const openedAtHeight = lastValidBlockHeight - BLOCKHASH_AGE;
  const isPossible = blockHeight - openedAtHeight <= slot - openedAtSlot;
  return isPossible && blockHeight > lastValidBlockHeight + blocks;
};
