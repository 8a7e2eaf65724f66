import { Effect } from "effect";
import { ImportedPackets } from "../../../../../ports/index/archived-rows.ts";
import { IndexWriter } from "../../../../../ports/index/index-writer.ts";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type { IndexedEscrow, UnseenEscrow } from "../../../../domain/index/indexed-escrow.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { searchHistory } from "../../../escrow/archived-escrows.ts";
import { monotonicMs } from "../../../single-flight.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";
import { askPeers, takeImports } from "./take-imports.ts";

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
 * How far the search for the bytes of unseen escrows has come. The store holds the escrows; this goes through them
 * round by round, since a history can be late.
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

/** Histories searched per sync; each costs many calls of the node. */
export const SEARCHES_A_SYNC = 32;
const AT_ONCE = 4;

/** Searches one escrow's history; null when it ends without its bytes. A failure leaves the search where it is. */
const search = Effect.fnUntraced(function* (memory: SyncMemory, one: UnseenSearch) {
  const { row, after } = one;
  if (row.settledHash === null) return null;
  const lastHash = hash32FromBytes(row.settledHash);
  const result = yield* searchHistory(row.address, { lastHash }, after).pipe(
    Effect.orElseSucceed(() => null),
  );
  if (result === null) memory.unseen.continues(one, after);
  else if (result.kind === "more") memory.unseen.continues(one, result.after);
  else memory.unseen.ended(one);
  if (result?.kind !== "found") return null;
  const found = indexedEscrowOf(result.last.escrow, result.last.data);
  return found.createdSeq === row.createdSeq ? found : null;
});

/**
 * Looks for the last bytes of some unseen escrows of an index at `count`: in the operator's packets, at the peers and
 * in their histories. Writes what it finds. A history that cannot be read stops its own row only; the next syncs
 * continue. Fails like the store.
 */
export const searchArchived = Effect.fn("searchArchived")(function* (
  memory: SyncMemory,
  count: bigint,
) {
  const writer = yield* IndexWriter;
  const imports = yield* ImportedPackets;
  const { unseen, peers: records } = memory;
  const write = (rows: ReadonlyArray<IndexedEscrow>) =>
    rows.length === 0
      ? Effect.void
      : writer.apply({
          from: count,
          escrows: rows.toSorted((a, b) => (a.createdSeq < b.createdSeq ? -1 : 1)),
          unseen: [],
          merchants: [],
          transactions: [],
          mark: null,
        });
  const imported = yield* takeImports(count);
  yield* write(imported.rows);
  for (const { createdSeq } of imported.rows) unseen.found(createdSeq);
  yield* Effect.forEach(imported.done, imports.forget, { discard: true });
  if (unseen.isPageDue(SEARCHES_A_SYNC, yield* monotonicMs)) {
    const page = yield* writer.unseen(SEARCHES_A_SYNC, unseen.after ?? 0n);
    for (const row of page) unseen.add(row);
    unseen.after = page.length < SEARCHES_A_SYNC ? null : (page.at(-1)?.createdSeq ?? null);
  }
  const next = unseen.next(SEARCHES_A_SYNC);
  const shown = yield* askPeers(next, { unseen, records });
  const isShown = new Set(shown.map(({ createdSeq }) => createdSeq));
  const searched = yield* Effect.forEach(
    next.filter(({ row }) => !isShown.has(row.createdSeq)),
    (one) => search(memory, one),
    { concurrency: AT_ONCE },
  );
  yield* write([...shown, ...searched.filter((row): row is IndexedEscrow => row !== null)]);
});
