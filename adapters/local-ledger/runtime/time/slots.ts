import type { Address } from "../../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import type { AccountState } from "../accounts/account-state.ts";
import type { SlotClock } from "./slot-clock.ts";
import type { TransactionErrorJson } from "../transactions/transaction-error.ts";

/** How final the state must be that a caller reads. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** A transaction that has just landed. */
export type LandedTransaction = {
  readonly slot: number;
  readonly signature: LedgerSignature;
  readonly error: TransactionErrorJson | null;
  readonly logs: ReadonlyArray<string>;
  readonly accounts: ReadonlyArray<Address>;
  /** The new state of each account it changed; undefined for a deleted one. */
  readonly changed: ReadonlyMap<Address, AccountState | undefined>;
};

/** The events of a listener. `slotEnded` comes before anything of a later slot. */
export type LedgerListener = {
  readonly landed: (transaction: LandedTransaction) => void;
  readonly slotEnded: (slot: number, current: number) => void;
};

type Former = Map<Address, AccountState | undefined>;

/**
 * The current slot, and what each commitment shows. A transaction runs at once in the current slot and is `processed`.
 * When the slot ends, it is confirmed, and `finalitySlots` slots later finalized. Readers at those levels see the former
 * states of accounts changed in later slots.
 */
export const slots = (clock: SlotClock, finalitySlots = 0) => {
  let entered = clock.currentSlot();
  /** Everything up to this slot is finalized, whatever its distance. */
  let settled = -1;
  /** Per slot that is not finalized, oldest first: the states that its accounts had before it. */
  let unfinal: Array<{ readonly slot: number; readonly former: Former }> = [];
  const listeners = new Set<LedgerListener>();

  /** The newest finalized slot while `slot` is the current one. */
  const finalizedAt = (slot: number): number =>
    Math.max(0, slot - 1 - finalitySlots, Math.min(settled, slot - 1));

  /** The current slot. Entering a new slot confirms the one before and notifies listeners. */
  const current = (): number => {
    const slot = clock.currentSlot();
    if (slot > entered) {
      const ended = entered;
      entered = slot;
      const finalized = finalizedAt(slot);
      unfinal = unfinal.filter((each) => each.slot > finalized);
      for (const listener of listeners) listener.slotEnded(ended, slot);
    }
    return entered;
  };

  const visible = (commitment: Commitment): number => {
    const slot = current();
    if (commitment === "processed") return slot;
    return commitment === "confirmed" ? Math.max(0, slot - 1) : finalizedAt(slot);
  };

  return {
    current,
    finalizedAt,
    /** The newest slot that a reader at this commitment sees. At `processed` it may be unfinished. */
    visible,
    /** Records a transaction of the current slot, with the former states of the accounts it changed. */
    landed: (
      transaction: LandedTransaction,
      former: ReadonlyMap<Address, AccountState | undefined>,
    ): void => {
      const { slot } = transaction;
      const last = unfinal.at(-1);
      const own = last?.slot === slot ? last.former : new Map();
      if (last?.slot !== slot) unfinal.push({ slot, former: own });
      for (const [address, state] of former) if (!own.has(address)) own.set(address, state);
      for (const listener of listeners) listener.landed(transaction);
    },
    /** Former states of the accounts that were changed in slots that a reader at this commitment does not see. */
    changedBeyond: (commitment: Commitment): ReadonlyMap<Address, AccountState | undefined> => {
      if (commitment === "processed") return new Map();
      const seen = visible(commitment);
      const beyond = unfinal.filter(({ slot }) => slot > seen);
      const [only] = beyond;
      if (only !== undefined && beyond.length === 1) return only.former;
      const merged: Former = new Map();
      for (const { former } of beyond)
        for (const [address, state] of former) if (!merged.has(address)) merged.set(address, state);
      return merged;
    },
    /** Finalizes every slot before the current one. A process that opens a ledger does not know former states. */
    settle: (): void => {
      settled = current() - 1;
      unfinal = unfinal.filter(({ slot }) => slot > settled);
    },
    /** Adds a listener and returns a function that removes it. */
    listen: (listener: LedgerListener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** See `slots`. */
export type Slots = ReturnType<typeof slots>;
