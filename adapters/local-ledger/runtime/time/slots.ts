import type { Address } from "../../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import type { AccountState } from "../accounts/account-state.ts";
import type { SlotClock } from "./slot-clock.ts";
import type { TransactionErrorJson } from "../transactions/transaction-error.ts";

/** How final the state must be that a caller reads. */
export type Commitment = "processed" | "confirmed" | "finalized";

/** A transaction that has just landed, as listeners see it. */
export type LandedTransaction = {
  readonly slot: number;
  readonly signature: LedgerSignature;
  readonly error: TransactionErrorJson | null;
  readonly logs: ReadonlyArray<string>;
  readonly accounts: ReadonlyArray<Address>;
  /** New state of each account it changed; undefined for one that is gone. */
  readonly changed: ReadonlyMap<Address, AccountState | undefined>;
};

/** What a listener is told. `slotEnded` comes before anything of a later slot. */
export type LedgerListener = {
  readonly landed: (transaction: LandedTransaction) => void;
  readonly slotEnded: (slot: number, current: number) => void;
};

/**
 * Which slot it is and what commitment shows of it. A transaction runs at once, in the current slot:
 * `processed`. When the slot is over it is confirmed and finalized, so readers at those levels are one
 * slot behind, and for the accounts changed in the current slot they see how they were before it.
 */
export const slots = (clock: SlotClock) => {
  let entered = clock.currentSlot();
  const before = new Map<Address, AccountState | undefined>();
  const listeners = new Set<LedgerListener>();

  /** The current slot. Entering a new one makes everything of the former final and says so. */
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
    /** The newest slot that a reader at this commitment sees whole (or, at `processed`, as far as it has come). */
    visible: (commitment: Commitment): number =>
      commitment === "processed" ? current() : Math.max(0, current() - 1),
    /** Records a transaction of the slot that `current` last gave, with the former state of what it changed. */
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
    /** Adds a listener; the result removes it. */
    listen: (listener: LedgerListener): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** See `slots`. */
export type Slots = ReturnType<typeof slots>;
