import type { Address } from "../../../../domain/address.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import type { ToldTransaction } from "../../../../../ports/ledger/ledger-signals.ts";

/** The most transactions kept. Of more, the history or a scan must tell. */
const MOST = 4096;

/**
 * Transactions of which a node has told and that no sync has accounted for. They lead to accounts whose changes a
 * history does not list.
 */
export class ToldTransactions {
  readonly #told = new Map<LedgerSignature, ToldTransaction>();

  /** Keeps a transaction, unless there are too many. */
  add(told: ToldTransaction): void {
    if (this.#told.size < MOST) this.#told.set(told.signature, told);
  }

  /** At most `limit` transactions that name an address, of slots up to `to`, oldest told first. */
  upTo(names: Address, to: bigint, limit: number): ReadonlyArray<ToldTransaction> {
    const found: Array<ToldTransaction> = [];
    for (const one of this.#told.values()) {
      if (found.length === limit) break;
      if (one.names === names && one.slot <= to) found.push(one);
    }
    return found;
  }

  /** Forgets transactions that a history lists or that were read. */
  forget(signatures: Iterable<LedgerSignature>): void {
    for (const signature of signatures) this.#told.delete(signature);
  }

  /** Forgets the transactions that name an address, of slots up to `to`: all its accounts of that slot are known. */
  forgetUpTo(names: Address, to: bigint): void {
    for (const [signature, told] of this.#told)
      if (told.names === names && told.slot <= to) this.#told.delete(signature);
  }
}
