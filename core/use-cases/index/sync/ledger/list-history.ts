import { Effect } from "effect";
import type { Address } from "../../../../domain/address.ts";
import type { HistoryEntry } from "../../../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../../../domain/ledger/signature.ts";
import { Ledger } from "../../../../../ports/ledger/ledger.ts";

/** The oldest transaction of a page and the next newer one. The page may be in any order. */
const oldestTwo = (entries: ReadonlyArray<HistoryEntry>): ReadonlyArray<HistoryEntry> => {
  const once = new Map(entries.map((entry) => [entry.signature, entry]));
  const newestFirst = [...once.values()].sort((a, b) =>
    a.slot > b.slot ? -1 : a.slot < b.slot ? 1 : 0,
  );
  return newestFirst.slice(-2).toReversed();
};

/**
 * Every transaction since slot `floor` that names one of the addresses, by signature. Reads on until a page reaches
 * below `floor` or brings nothing older. Null when the list may be incomplete: history begins later or has a gap, a node
 * repeats itself, or there are more than `most`. Pages may overlap and may be unordered.
 */
export const listHistory = Effect.fn("listHistory")(function* (
  addresses: ReadonlyArray<Address>,
  floor: bigint,
  most: number,
) {
  const ledger = yield* Ledger;
  const listed = new Map<LedgerSignature, HistoryEntry>();
  let count = 0;
  for (const address of addresses) {
    const own = new Set<LedgerSignature>();
    let before: LedgerSignature | null = null;
    let overlap: LedgerSignature | null = null;
    for (;;) {
      const page: Effect.Success<ReturnType<typeof ledger.history>> = yield* ledger.history(
        address,
        before,
      );
      const { entries, keptFrom } = page;
      const isKept = keptFrom !== null && keptFrom <= floor;
      if (entries.length === 0 && !isKept) return null;
      const has = (one: LedgerSignature) => entries.some(({ signature }) => signature === one);
      // What is listed after a signature does not hold it: this node's cursor does not move.
      if (before !== null && has(before)) return null;
      // The overlap proves that this node knows the order of both pages. A page without it, such as an empty one, may come
      // from a node that does not know the signature.
      if (overlap !== null && !has(overlap)) return null;
      const known = own.size;
      for (const { signature } of entries) own.add(signature);
      for (const entry of entries) if (entry.slot >= floor) listed.set(entry.signature, entry);
      const [oldest, second] = oldestTwo(entries);
      if (oldest === undefined || oldest.slot < floor) break;
      if (own.size === known || second === undefined) {
        // Only the overlap came, or a first page with one entry: there is nothing older.
        if (isKept) break;
        return null;
      }
      count += own.size - known;
      if (count > most) return null;
      before = second.signature;
      overlap = oldest.signature;
    }
  }
  return listed;
});
