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

/**
 * The current slot, and what each commitment shows. A transaction runs at once in the current slot and is `processed`.
 * When the slot ends, it is confirmed and finalized. So readers at those levels are one slot behind, and see the former
 * states of accounts changed in the current slot.
 */
export const slots = (clock: SlotClock) => {
  let entered = clock.currentSlot();
  const before = new Map<Address, AccountState | undefined>();
  const listeners = new Set<LedgerListener>();

  /** The current slot. Entering a new slot finalizes the one before and notifies listeners. */
  const current = (): number => {
    const slot = clock.currentSlot();
    if (slot > entered) {
      const ended = entered;
      entered = slot;
      before.clear();
      for (const listener of listeners) listener.slotEnded(ended, slot);
    }
    return entered;
  };

  return {
    current,
    /** The newest slot that a reader at this commitment sees. At `processed` it may be unfinished. */
    visible: (commitment: Commitment): number =>
      commitment === "processed" ? current() : Math.max(0, current() - 1),
    /** Records a transaction of the current slot, with the former states of the accounts it changed. */
    landed: (
      transaction: LandedTransaction,
      former: ReadonlyMap<Address, AccountState | undefined>,
    ): void => {
      for (const [address, state] of former) if (!before.has(address)) before.set(address, state);
      for (const listener of listeners) listener.landed(transaction);
    },
    /** Former states of the accounts changed in the current slot. */
    changedInCurrent: (): ReadonlyMap<Address, AccountState | undefined> => {
      current();
      return before;
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
