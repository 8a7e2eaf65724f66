import type { Commitment } from "../../ports/ledger.ts";

/**
 * The highest slot any node has shown at each commitment, 0 before the first. Reads ask for at least
 * that, so that they never go back in time when the next node is slower. It forgets only with the process.
 */
export class HighestSlots {
  readonly #highest: Record<Commitment, number> = { confirmed: 0, finalized: 0 };

  at(commitment: Commitment): number {
    return this.#highest[commitment];
  }

  saw(commitment: Commitment, slot: number): void {
    this.#highest[commitment] = Math.max(this.#highest[commitment], slot);
    // What is finalized is confirmed as well.
    if (commitment === "finalized") this.saw("confirmed", slot);
  }
}
