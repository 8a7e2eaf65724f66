import { Effect } from "effect";
import type { LedgerTransaction } from "../../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";

/** The most transactions kept. A longer catch-up is scanned (`worthReading`). */
const MOST = 20_000;

/**
 * The finalized transactions that syncs have read since the last one that completed. A provider's limits can end every
 * sync of a burst: the next one goes on from what is kept, and does not ask for it again.
 */
export class ReadTransactions {
  readonly #read = new Map<LedgerSignature, LedgerTransaction>();

  /** The transaction as it was read before, or as a node shows it now; null when the node does not. Fails like the ledger. */
  readonly read = Effect.fnUntraced({ self: this }, function* (signature: LedgerSignature) {
    const known = this.#read.get(signature);
    if (known !== undefined) return known;
    const ledger = yield* Ledger;
    const shown = yield* ledger.transaction(signature);
    if (shown !== null && this.#read.size < MOST) this.#read.set(signature, shown);
    return shown;
  });

  /** Forgets all of them. */
  forget(): void {
    this.#read.clear();
  }
}
