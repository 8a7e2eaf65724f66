import type { Clock } from "effect";
import type { Commitment } from "../../../ports/ledger.ts";

/** No ledger of this kind has come near this speed; 2.5 slots a second is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** Additional tolerance for nodes that lag and clocks that were set. */
const SLACK_SLOTS = 10_000;
/** A slot that no node has shown for this long, while it was asked for, is dropped. */
const FORGET_AFTER_MS = 120_000;

/** The judgement of an answer by its slot. */
export type SlotJudgement = "fine" | "behind" | "malformed";

/**
 * The highest slot any node has shown at each commitment, 0 before the first. Reads ask for at least that slot, so that
 * they never go back in time at a slower node. A slot that the ledger cannot have reached since the first one seen is
 * not believed. If a false claim passes that check, no node can show its slot, and it is dropped after a while.
 */
export class HighestSlots {
  readonly #clock: Pick<Clock.Clock, "monotonicTimeNanosUnsafe" | "currentTimeMillisUnsafe">;
  readonly #highest: Record<Commitment, number> = { confirmed: 0, finalized: 0 };
  #first: { readonly slot: number; readonly monotonicMs: number; readonly wallMs: number } | null =
    null;
  #missedSinceMs: number | null = null;

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
    this.#missedSinceMs = null;
    this.#highest[commitment] = Math.max(this.#highest[commitment], slot);
    // What is finalized is also confirmed.
    if (commitment === "finalized") this.saw("confirmed", slot);
  }

  judge(commitment: Commitment, slot: number): SlotJudgement {
    if (slot < this.#highest[commitment]) return "behind";
    return slot <= this.#reachable() ? "fine" : "malformed";
  }

  /** Records that no node could answer from a slot as high as the highest. */
  missed(): void {
    const nowMs = this.#monotonicMs();
    this.#missedSinceMs ??= nowMs;
    if (nowMs - this.#missedSinceMs < FORGET_AFTER_MS) return;
    this.#highest.confirmed = 0;
    this.#highest.finalized = 0;
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
