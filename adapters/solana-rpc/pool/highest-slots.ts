import type { Clock } from "effect";
import type { Commitment } from "../../../ports/ledger/ledger.ts";

/** The accounts whose floors are kept one by one, at each commitment: 200 bytes each, 4 MB in all. */
const MOST_ACCOUNTS = 10_000;

/**
 * For each account, the lowest slot that an answer about it may have: the highest slot at which it was seen or relayed.
 * Accounts that no longer fit share one floor, the highest of theirs. Their answers must then be newer than needed, and
 * never go back.
 */
class AccountFloors {
  readonly #floors: Record<Commitment, Map<string, number>> = {
    confirmed: new Map(),
    finalized: new Map(),
  };
  readonly #pushedOut: Record<Commitment, number> = { confirmed: 0, finalized: 0 };

  /** Records that these accounts were seen, or found missing, at a slot. */
  saw(commitment: Commitment, accounts: ReadonlyArray<string>, slot: number): void {
    for (const account of accounts) this.#raise(commitment, account, slot);
    // What is finalized is also confirmed.
    if (commitment === "finalized") this.saw("confirmed", accounts, slot);
  }

  /** The highest floor of these accounts, 0 for none. */
  of(commitment: Commitment, accounts: ReadonlyArray<string>): number {
    if (accounts.length === 0) return 0;
    const floors = this.#floors[commitment];
    return accounts.reduce(
      (highest, account) => Math.max(highest, floors.get(account) ?? 0),
      this.#pushedOut[commitment],
    );
  }

  /** Drops every floor. */
  clear(): void {
    for (const commitment of ["confirmed", "finalized"] as const) {
      this.#floors[commitment].clear();
      this.#pushedOut[commitment] = 0;
    }
  }

  #raise(commitment: Commitment, account: string, slot: number): void {
    const floors = this.#floors[commitment];
    const floor = floors.get(account) ?? 0;
    // Inserted again, so that it becomes the newest and is dropped last.
    floors.delete(account);
    floors.set(account, Math.max(floor, slot));
    if (floors.size <= MOST_ACCOUNTS) return;
    const [oldest] = floors;
    if (oldest === undefined) return;
    floors.delete(oldest[0]);
    this.#pushedOut[commitment] = Math.max(this.#pushedOut[commitment], oldest[1]);
  }
}

/** No ledger of this kind has come near this speed; 2.5 slots a second is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** Additional tolerance for nodes that lag and clocks that were set. */
const SLACK_SLOTS = 10_000;
/** A slot that no node has shown for this long, while it was asked for, is dropped. */
const FORGET_AFTER_MS = 120_000;

/**
 * How many slots an answer may lie behind the highest slot seen when it shows that something is there: 13 seconds. The
 * backends behind one balanced address lag by about as much.
 */
const PRESENCE_SLOTS = 32;

/** The judgement of an answer by its slot. */
export type SlotJudgement = "fine" | "behind" | "slot_beyond_reach";

/** The lowest slots at which one question may be answered. */
type SlotBounds = {
  /** By an answer that shows what was asked for. */
  readonly present: number;
  /** By an answer that says that it is missing, or that refuses. */
  readonly absent: number;
};

/** A slot and its block height. */
type Tip = { readonly slot: number; readonly blockHeight: number };

/**
 * What is known of the ledger's time: the highest slot any node has shown at each commitment, 0 before the first, the
 * newest tip, and the floor of each account. A slot that the ledger cannot have reached since the first one seen is not
 * believed. If a false claim passes that check, no node can show its slot, and everything is dropped after a while.
 */
export class HighestSlots {
  readonly #clock: Pick<Clock.Clock, "monotonicTimeNanosUnsafe" | "currentTimeMillisUnsafe">;
  readonly #highest: Record<Commitment, number> = { confirmed: 0, finalized: 0 };
  #first: { readonly slot: number; readonly monotonicMs: number; readonly wallMs: number } | null =
    null;
  #missedSinceMs: number | null = null;
  readonly #tips: Record<Commitment, Tip | null> = { confirmed: null, finalized: null };
  /** The highest slot at which a blockhash was valid. */
  #validAt = 0;
  /** The finalized slot up to which the index shows the ledger. */
  #shownTo = 0;
  readonly floors = new AccountFloors();

  constructor(clock: Pick<Clock.Clock, "monotonicTimeNanosUnsafe" | "currentTimeMillisUnsafe">) {
    this.#clock = clock;
  }

  at(commitment: Commitment): number {
    return this.#highest[commitment];
  }

  saw(commitment: Commitment, slot: number): void {
    this.#first ??= {
      slot,
      monotonicMs: this.#monotonicMs(),
      wallMs: this.#clock.currentTimeMillisUnsafe(),
    };
    // An answer from a much lower slot, such as a finalized one, does not prove that a node has reached the highest.
    if (slot >= this.#highest.confirmed - PRESENCE_SLOTS) this.#missedSinceMs = null;
    this.#highest[commitment] = Math.max(this.#highest[commitment], slot);
    // What is finalized is also confirmed.
    if (commitment === "finalized") this.saw("confirmed", slot);
  }

  /**
   * The lowest slots for an answer about these accounts. With `notBefore`, only that slot counts.
   */
  boundsOf(
    commitment: Commitment,
    accounts: ReadonlyArray<string>,
    notBefore?: bigint,
  ): SlotBounds {
    if (notBefore !== undefined) return { present: Number(notBefore), absent: Number(notBefore) };
    const highest = this.#highest[commitment];
    const floor = Math.max(this.floors.of(commitment, accounts), this.#shownTo);
    const present = Math.max(floor, highest - PRESENCE_SLOTS, 0);
    return { present, absent: Math.max(floor, highest) };
  }

  /** Records a finalized slot whose whole state was shown to callers: no answer is taken from before it. */
  shownUpTo(slot: number): void {
    if (this.judge(0, slot) !== "fine") return;
    this.saw("finalized", slot);
    this.#shownTo = Math.max(this.#shownTo, slot);
  }

  judge(lowest: number, slot: number): SlotJudgement {
    if (slot < lowest) return "behind";
    return slot <= this.#reachable() ? "fine" : "slot_beyond_reach";
  }

  /** Records a slot at which a blockhash was valid. Tips below it are no longer returned. */
  sawValidBlockhash(slot: number): void {
    this.#validAt = Math.max(this.#validAt, slot);
  }

  /** The lowest slot of a tip that a node may show. */
  lowestTip(commitment: Commitment): number {
    const finalized = commitment === "confirmed" ? this.#highest.finalized : 0;
    return Math.max(this.#highest[commitment] - PRESENCE_SLOTS, finalized, 0);
  }

  /** Whether a blockhash was valid at a slot above the newest tip known. */
  awaitsTip(commitment: Commitment): boolean {
    return commitment === "confirmed" && (this.#tips.confirmed?.slot ?? 0) < this.#validAt;
  }

  /**
   * The newest tip known, once a node has shown this one. Undefined when that is below the slot at which a blockhash
   * was valid.
   */
  newestTip(commitment: Commitment, shown: Tip): Tip | undefined {
    const previous = this.#tips[commitment];
    const newest = previous !== null && previous.slot > shown.slot ? previous : shown;
    this.saw(commitment, shown.slot);
    this.#tips[commitment] = newest;
    return commitment === "confirmed" && newest.slot < this.#validAt ? undefined : newest;
  }

  /** Records that no node could answer at the highest slot. */
  missed(): void {
    const nowMs = this.#monotonicMs();
    this.#missedSinceMs ??= nowMs;
    if (nowMs - this.#missedSinceMs < FORGET_AFTER_MS) return;
    this.#highest.confirmed = 0;
    this.#highest.finalized = 0;
    this.#tips.confirmed = null;
    this.#tips.finalized = null;
    this.#validAt = 0;
    this.#shownTo = 0;
    this.floors.clear();
    this.#first = null;
    this.#missedSinceMs = null;
  }

  /**
   * The highest slot that the ledger can have reached. Only the wall clock counts the time for which a machine slept.
   */
  #reachable(): number {
    if (this.#first === null) return Number.POSITIVE_INFINITY;
    const { slot, monotonicMs, wallMs } = this.#first;
    const elapsedMs = Math.max(
      this.#monotonicMs() - monotonicMs,
      this.#clock.currentTimeMillisUnsafe() - wallMs,
    );
    return slot + (elapsedMs / 1000) * MOST_SLOTS_A_SECOND + SLACK_SLOTS;
  }

  #monotonicMs(): number {
    return Number(this.#clock.monotonicTimeNanosUnsafe()) / 1e6;
  }
}
