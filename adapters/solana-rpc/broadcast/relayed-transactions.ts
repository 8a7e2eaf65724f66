import type { Address } from "../../../core/domain/address.ts";
import type { LedgerSignature } from "../../../core/domain/ledger/signature.ts";
import type { LandedTransaction } from "../../../core/domain/relay/transaction-outcome.ts";
import { RecentlyUsed } from "../../../core/domain/recently-used.ts";
import type { WireMessage } from "../../../core/protocol/transaction/wire-message.ts";
import { decodeSanitizedTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import type { HighestSlots } from "../pool/highest-slots.ts";

/** The least number of transactions kept, twice as many at most: at 2 KB each, 8 MB. */
const KEPT = 2_000;

/** The accounts that a message itself names to be written. */
const writtenBy = (message: WireMessage): ReadonlyArray<Address> => {
  const { staticAccounts, signerCount, readonlySigners, readonlyOthers } = message;
  return [
    ...staticAccounts.slice(0, signerCount - readonlySigners),
    ...staticAccounts.slice(signerCount, staticAccounts.length - readonlyOthers),
  ];
};

/** The accounts that a serialized transaction itself names to be written, none when it cannot be read. */
export const accountsWritten = (transaction: Uint8Array): ReadonlyArray<Address> => {
  const decoded = decodeSanitizedTransaction(transaction);
  return "value" in decoded ? writtenBy(decoded.value) : [];
};

/**
 * The transactions that were sent here. Once one is seen to have landed, its accounts are not read from before its slot:
 * whoever was told that it landed sees what it did.
 */
export class RelayedTransactions {
  readonly #slots: HighestSlots;
  readonly #accounts = new RecentlyUsed<LedgerSignature, ReadonlyArray<string>>(KEPT);

  constructor(slots: HighestSlots) {
    this.#slots = slots;
  }

  /** Remembers a transaction that is sent. */
  remember(transaction: Uint8Array): void {
    const decoded = decodeSanitizedTransaction(transaction);
    if ("value" in decoded) this.#accounts.set(decoded.value.signature, writtenBy(decoded.value));
  }

  /** Records where transactions landed, as a node with this newest slot shows it. */
  landed(
    signatures: ReadonlyArray<LedgerSignature>,
    landed: ReadonlyArray<LandedTransaction | null>,
    slot: number,
  ): void {
    const { floors } = this.#slots;
    for (const [i, signature] of signatures.entries()) {
      const shown = landed[i] ?? null;
      if (shown === null) continue;
      // Another node may not know yet that it landed, or that it is finalized.
      floors.saw("confirmed", [signature], slot);
      const accounts = this.#accounts.get(signature) ?? [];
      if (shown.commitment !== "processed")
        floors.saw(shown.commitment, accounts, Number(shown.slot));
    }
  }
}
