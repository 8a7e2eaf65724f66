import type { UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";

/** The search of one unseen escrow's history. */
export type UnseenSearch = {
  readonly row: UnseenEscrow;
  /** The search continues after this transaction. */
  readonly after: LedgerSignature | null;
  /** The peers that do not have its bytes, by name, as far as they were asked in this round. */
  readonly asked: ReadonlySet<string>;
};

/** The most searches remembered. Others wait for the next round through the store. */
const MOST = 10_000;
/** The least interval between two rounds through the store's unseen escrows, milliseconds. */
const ROUND_MS = 600_000;

/**
 * How far the search for the bytes of unseen escrows has come. The store holds the escrows; this goes through them round
 * by round, since a history can be late.
 */
export class UnseenEscrows {
  /** The number after which the round continues, null between two rounds. */
  after: bigint | null = null;
  readonly #searches = new Map<bigint, UnseenSearch>();
  #roundMs: number | null = null;

  /** Remembers an escrow to be searched, unless it is already. One that is not settled has no last bytes. */
  add(row: UnseenEscrow): void {
    if (row.settledHash === null || this.#searches.size >= MOST) return;
    if (!this.#searches.has(row.createdSeq))
      this.#searches.set(row.createdSeq, { row, after: null, asked: new Set() });
  }

  /** Whether the next page of the store's unseen escrows is to be read: fewer than `limit` searches wait. */
  isPageDue(limit: number, nowMs: number): boolean {
    if (this.#searches.size >= limit) return false;
    if (this.after !== null) return true;
    if (this.#roundMs !== null && nowMs - this.#roundMs < ROUND_MS) return false;
    this.#roundMs = nowMs;
    this.after = 0n;
    return true;
  }

  /** At most `limit` searches, those that waited longest first. */
  next(limit: number): ReadonlyArray<UnseenSearch> {
    return [...this.#searches.values()].slice(0, limit);
  }

  /** Ends a search, with the bytes or without. */
  ended({ row }: UnseenSearch): void {
    this.found(row.createdSeq);
  }

  /** Ends the search of the escrow with this number, if there is one: its bytes were found elsewhere. */
  found(createdSeq: bigint): void {
    this.#searches.delete(createdSeq);
  }

  /** Notes that a peer does not have the bytes. The search keeps its place. */
  notAt(peer: string, { row }: UnseenSearch): void {
    const search = this.#searches.get(row.createdSeq);
    if (search === undefined) return;
    const asked = new Set([...search.asked, peer]);
    this.#searches.set(row.createdSeq, { ...search, asked });
  }

  /** Puts a search behind the others, to continue after a transaction. */
  continues({ row }: UnseenSearch, after: LedgerSignature | null): void {
    const asked = this.#searches.get(row.createdSeq)?.asked ?? new Set();
    this.#searches.delete(row.createdSeq);
    this.#searches.set(row.createdSeq, { row, after, asked });
  }
}
