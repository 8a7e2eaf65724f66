import type { Address } from "../../../domain/address.ts";
import type { LedgerSignature } from "../../../domain/ledger/signature.ts";
import type { ArchivedEscrow } from "../../../protocol/accounts/archived-escrow-account.ts";

/** An archived escrow as a sync found it. */
export type FoundTombstone = {
  readonly address: Address;
  readonly tombstone: ArchivedEscrow;
  /** The slot at which the ledger showed it. */
  readonly slot: bigint;
};

type Search = FoundTombstone & {
  /** The search of its history continues after this transaction. */
  readonly after: LedgerSignature | null;
  /** When the whole history had been read without success, milliseconds of a monotonic clock; null before. */
  readonly endedMs: number | null;
};

/** The most escrows remembered. Others are found again by the next snapshot. */
const MOST = 10_000;
/** How long a search that found nothing stands, milliseconds. */
const AGAIN_MS = 600_000;

/** Archived escrows that the index lacks because their last bytes are not known. */
export class UnseenEscrows {
  readonly #searches = new Map<Address, Search>();

  get size(): number {
    return this.#searches.size;
  }

  /** Remembers an escrow to be searched, unless it is known already. */
  add(found: FoundTombstone): void {
    if (this.#searches.size >= MOST || this.#searches.has(found.address)) return;
    this.#searches.set(found.address, { ...found, after: null, endedMs: null });
  }

  /** Forgets an escrow, since the index has it. */
  delete(address: Address): void {
    this.#searches.delete(address);
  }

  /** At most `limit` escrows whose search may run now, those that waited longest first. */
  next(limit: number, nowMs: number): ReadonlyArray<Search> {
    const due: Array<Search> = [];
    for (const search of this.#searches.values()) {
      if (due.length === limit) break;
      if (search.endedMs === null || nowMs - search.endedMs >= AGAIN_MS) due.push(search);
    }
    return due;
  }

  /** Records how far a search came; the escrow then waits behind the others. */
  searched(search: Search, end: Pick<Search, "after" | "endedMs">): void {
    this.#searches.delete(search.address);
    this.#searches.set(search.address, { ...search, ...end });
  }
}
