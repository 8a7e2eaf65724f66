import { type Address, addressFromBytes } from "../../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../../core/domain/ledger/signature.ts";
import type { AccountState } from "../accounts/account-store.ts";
import type { TransactionErrorJson } from "../transactions/transaction-error.ts";

/** The ledger's time in milliseconds since the Unix epoch. It never goes back. */
export type LedgerTime = { readonly nowMs: () => number };

/**
 * Wall time that starts no earlier than `notBeforeMs` and never goes back. When the machine's clock is set back, time
 * continues by the monotonic clock. When the machine slept, it catches up at once.
 */
export const wallTime = (notBeforeMs: number): LedgerTime => {
  let lastMs = Math.max(notBeforeMs, Date.now());
  let lastMonotonicMs = performance.now();
  return {
    nowMs: () => {
      const monotonicMs = performance.now();
      lastMs = Math.max(lastMs + (monotonicMs - lastMonotonicMs), Date.now());
      lastMonotonicMs = monotonicMs;
      return lastMs;
    },
  };
};

/** Time that moves only on `advance`: for tests, and for the genesis, whose demo escrows live in the past. */
export const manualTime = (startMs: number) => {
  let nowMs = startMs;
  return {
    nowMs: () => nowMs,
    /** Moves time ahead by `ms` milliseconds, at least 0. */
    advance: (ms: number) => {
      nowMs += Math.max(0, ms);
    },
  };
};

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
type LedgerListener = {
  readonly landed: (transaction: LandedTransaction) => void;
  readonly slotEnded: (slot: number, current: number) => void;
};

type Former = Map<Address, AccountState | undefined>;

/**
 * The current slot, and what each commitment shows. A transaction runs at once in the current slot and is `processed`.
 * When the slot ends, it is confirmed, and `finalitySlots` slots later finalized. Readers at those levels see the
 * former states of accounts changed in later slots.
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

/** Blocks for which a blockhash stays valid (Agave `clock.rs`: MAX_PROCESSING_AGE). */
export const MAX_PROCESSING_AGE = 150;

/**
 * The blockhashes of one ledger. A block's hash is the SHA-256 of the genesis hash and the slot (u64 LE), so the queue
 * survives a restart without being stored. Such hashes are predictable, which is harmless on one machine.
 */
export const blockhashQueue = (genesisHash: Uint8Array) => {
  const slotOf = new Map<string, number>();
  let newest = -1;

  const hashBytes = (slot: number): Uint8Array => {
    const preimage = new Uint8Array(genesisHash.length + 8);
    preimage.set(genesisHash);
    new DataView(preimage.buffer).setBigUint64(genesisHash.length, BigInt(slot), true);
    return new Uint8Array(Bun.SHA256.hash(preimage).buffer);
  };
  const hash = (slot: number): string => addressFromBytes(hashBytes(slot));

  const fillUpTo = (slot: number): void => {
    for (let next = Math.max(newest + 1, slot - MAX_PROCESSING_AGE); next <= slot; next++)
      slotOf.set(hash(next), next);
    newest = Math.max(newest, slot);
    for (const [text, old] of slotOf) {
      if (old >= newest - MAX_PROCESSING_AGE) break;
      slotOf.delete(text);
    }
  };

  return {
    hash,
    hashBytes,
    /** Whether a transaction in block `slot` may use the blockhash: its own block is 1 to 150 blocks older. */
    isUsable: (blockhash: string, slot: number): boolean => {
      fillUpTo(slot - 1);
      const of = slotOf.get(blockhash);
      return of !== undefined && of < slot && slot - of <= MAX_PROCESSING_AGE;
    },
  };
};

/** See `blockhashQueue`. */
export type BlockhashQueue = ReturnType<typeof blockhashQueue>;
