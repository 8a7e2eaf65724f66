import type { Commitment } from "../../../ports/ledger/ledger.ts";

/** The accounts whose floors are kept one by one, at each commitment: 200 bytes each, 4 MB in all. */
const MOST_ACCOUNTS = 10_000;

/**
 * The lowest slot that an answer about each account may have: the highest one at which the account was seen or relayed.
 * An account that is pushed out by others keeps the highest floor of all that were pushed out, so an answer about it is
 * asked of a newer slot than needed and never goes back.
 */
export class AccountFloors {
  readonly #most: number;
  readonly #floors: Record<Commitment, Map<string, number>> = {
    confirmed: new Map(),
    finalized: new Map(),
  };
  readonly #pushedOut: Record<Commitment, number> = { confirmed: 0, finalized: 0 };

  constructor(most = MOST_ACCOUNTS) {
    this.#most = most;
  }

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
    const known = floors.get(account) ?? 0;
    // Set anew, it is the last to be pushed out.
    floors.delete(account);
    floors.set(account, Math.max(known, slot));
    if (floors.size <= this.#most) return;
    const [oldest] = floors;
    if (oldest === undefined) return;
    floors.delete(oldest[0]);
    this.#pushedOut[commitment] = Math.max(this.#pushedOut[commitment], oldest[1]);
  }
}
