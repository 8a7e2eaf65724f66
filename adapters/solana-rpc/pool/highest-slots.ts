import type { Clock } from "effect";
import type { Commitment } from "../../../ports/ledger.ts";

/** No ledger of this kind has come near so many slots in a second; 2.5 is usual. */
const MOST_SLOTS_A_SECOND = 10;
/** What may be ahead of the first slot seen besides: nodes that lag, clocks that were set. */
const SLACK_SLOTS = 10_000;
/** A slot that no node has shown for so long while it was asked for is forgotten. */
const FORGET_AFTER_MS = 120_000;

/** What the slot of an answer says of it. */
export type SlotJudgement = "fine" | "behind" | "malformed";

/**
 * The highest slot any node has shown at each commitment, 0 before the first. Reads ask for at least
 * that, so that they never go back in time when the next node is slower. A node that claims a slot which the
 * ledger cannot have reached since the first one seen is not believed. Where a claim was false all the
 * same, no node can show that slot, and the memory of it ends; it ends with the process in any case.
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
    // What is finalized is confirmed as well.
    if (commitment === "finalized") this.saw("confirmed", slot);
  }

  judge(commitment: Commitment, slot: number): SlotJudgement {
    if (slot < this.#highest[commitment]) return "behind";
    return slot <= this.#reachable() ? "fine" : "malformed";
  }

  /** Notes that no node could answer from a slot as high as the highest. */
  missed(): void {
    const nowMs = this.#monotonicMs();
    this.#missedSinceMs ??= nowMs;
    if (nowMs - this.#missedSinceMs < FORGET_AFTER_MS) return;
    this.#highest.confirmed = 0;
    this.#highest.finalized = 0;
    this.#first = null;
    this.#missedSinceMs = null;
  }

  /** Up to where the ledger can have come; a machine that slept knows it by the wall clock only. */
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
