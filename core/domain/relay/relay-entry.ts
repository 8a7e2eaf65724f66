import type { Address } from "../address.ts";
import type { LedgerSignature } from "../ledger/signature.ts";

/** Why a transaction failed on the ledger. */
export type TransactionError = {
  /** The runtime's name for the error, such as `InstructionError` or `BlockhashNotFound`. */
  readonly kind: string;
  /** The failing instruction's index, for an `InstructionError`. */
  readonly instructionIndex: number | null;
  /** The instruction's own error: a builtin name, or `Custom`. */
  readonly instructionError: string | null;
  /** The program's error number, u32, where `instructionError` is `Custom`. */
  readonly customCode: number | null;
};

/** The result of running a transaction without landing it. */
export type Simulation = {
  readonly slot: bigint;
  /** Null when it would succeed. */
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
};

/** A transaction that is in a block, whether it succeeded or failed there. */
export type LandedTransaction = {
  readonly slot: bigint;
  readonly commitment: "processed" | "confirmed" | "finalized";
  readonly error: TransactionError | null;
};

/** A transaction in a block, as a node's history shows it. */
export type ShownTransaction = {
  readonly slot: bigint;
  readonly error: TransactionError | null;
  /** Empty when the node keeps none. */
  readonly logs: ReadonlyArray<string>;
  /** The program of the failing instruction, null without an error of one, and when the node does not show it. */
  readonly program: Address | null;
};

/**
 * A landing as far as one node's status proves it: an error counts as `confirmed` at most. It is final only once the
 * relay's log holds it, because a false one would have the payment made twice.
 */
export const statusOnly = (landed: LandedTransaction): LandedTransaction =>
  landed.error !== null && landed.commitment === "finalized"
    ? { ...landed, commitment: "confirmed" }
    : landed;

/** The final outcome of a relayed transaction. It never changes. */
export type FinalOutcome =
  | {
      readonly status: "landed";
      /** The finalized slot it is in. */
      readonly slot: bigint;
      readonly error: TransactionError | null;
      /** How many nodes showed an error; absent without one, and where an earlier version recorded it. */
      readonly nodes?: number;
    }
  | {
      readonly status: "expired";
      /** A finalized block height beyond the last valid one, at which the history had no such transaction. */
      readonly blockHeight: bigint;
      /** The transaction that did instead what this one would have done; null when nothing did. */
      readonly supersededBy: LedgerSignature | null;
      /** How many nodes had no such transaction; absent where an earlier version recorded it. */
      readonly nodes?: number;
    };

/** One transaction the relay has taken on. */
export type RelayEntry = {
  readonly signature: LedgerSignature;
  /** The serialized transaction, the same bytes for each sending. */
  readonly transaction: Uint8Array;
  readonly feePayer: Address;
  /** The last block height at which it can land. */
  readonly lastValidBlockHeight: bigint;
  /** A confirmed slot before its first sending. It can only land in later slots. */
  readonly openedAtSlot: bigint;
  /** The service's clock, milliseconds. */
  readonly openedAtMs: number;
  /** Null while the outcome is not final. */
  readonly outcome: FinalOutcome | null;
};

/** Blocks for which a blockhash stays valid (Agave `clock.rs`: MAX_PROCESSING_AGE). */
export const BLOCKHASH_AGE = 150n;

/** Slots in which a ledger makes `BLOCKHASH_AGE` blocks, though every second slot has none. */
const BLOCKHASH_SLOTS = 2n * BLOCKHASH_AGE;

/** A finalized tip: a slot and the number of blocks up to it. */
export type FinalizedTip = { readonly slot: bigint; readonly blockHeight: bigint };

/**
 * The first slot that can hold the transaction. Its payer may have sent it elsewhere before this relay took it on, but
 * not before its blockhash existed.
 */
export const firstPossibleSlot = ({ openedAtSlot }: RelayEntry): bigint =>
  openedAtSlot > BLOCKHASH_SLOTS ? openedAtSlot - BLOCKHASH_SLOTS : 0n;

/**
 * Whether a tip, read before the transaction was looked up, is this number of blocks beyond its last valid one. Never
 * when the height grew by more than the slots did since the transaction was taken on: each block takes a slot, so one
 * of the two is false. Honest nodes show that only after a fork dropped the block of that time, and only until as many
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
