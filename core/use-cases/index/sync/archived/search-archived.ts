import { Effect } from "effect";
import { hash32FromBytes } from "../../../../domain/hash32.ts";
import type { IndexedEscrow } from "../../../../domain/index/indexed-escrow.ts";
import { indexedEscrowOf } from "../../../../log/leaf/escrow-rows.ts";
import { ImportedPackets } from "../../../../../ports/index/imported-packets.ts";
import { IndexWriter } from "../../../../../ports/index/index-writer.ts";
import { monotonicMs } from "../../../monotonic-time.ts";
import { searchHistory } from "../../../escrow/search-history.ts";
import type { SyncMemory } from "../ledger/sync-memory.ts";
import { askPeers } from "./ask-peers.ts";
import { takeImports } from "./take-imports.ts";
import type { UnseenSearch } from "./unseen-escrows.ts";

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
 * Looks for the last bytes of some unseen escrows of an index at `count`: in the operator's packets, at the peers and in their histories. Writes
 * what it finds. A history that cannot be read stops its own row only; the next syncs continue. Fails like the store.
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
