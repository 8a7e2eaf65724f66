import { Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { HistoryEntry } from "../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import type { ArchivedEscrow } from "../../protocol/accounts/archived-escrow-account.ts";
import { believedBytes, type LastBytes } from "../../protocol/accounts/last-bytes.ts";
import { archivedBytesOf } from "../../protocol/transaction/archived-bytes.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

/** The most transactions that a search lists, and the pages that it takes: some providers list a hundred a page. */
const MOST_LISTED = 64_000;
const MOST_PAGES = MOST_LISTED / 100;
/** Transactions read per search. */
export const MOST_TRANSACTIONS = 256;
const AT_ONCE = 8;

/** How a search of an escrow's history ends. */
export type HistorySearch =
  | { readonly kind: "found"; readonly last: LastBytes }
  /** The search read as much as it may. The next one continues after this transaction. */
  | { readonly kind: "more"; readonly after: LedgerSignature }
  | { readonly kind: "nothing" };

/** The transactions that name an address and landed without error, oldest first, as far as the node's history goes. */
const landedOldestFirst = Effect.fnUntraced(function* (address: Address) {
  const ledger = yield* Ledger;
  const listed = new Map<LedgerSignature, HistoryEntry>();
  let before: LedgerSignature | null = null;
  for (let page = 0; page < MOST_PAGES && listed.size < MOST_LISTED; page++) {
    const { entries }: Effect.Success<ReturnType<typeof ledger.history>> = yield* ledger.history(
      address,
      before,
    );
    const known = listed.size;
    for (const entry of entries) listed.set(entry.signature, entry);
    const oldest = [...listed.values()].reduce<HistoryEntry | null>(
      (low, entry) => (low === null || entry.slot <= low.slot ? entry : low),
      null,
    );
    if (oldest === null || listed.size === known) break;
    before = oldest.signature;
  }
  return [...listed.values()]
    .toReversed()
    .sort((a, b) => Number(a.slot - b.slot))
    .filter(({ failed }) => !failed);
});

/**
 * Searches an archived escrow's history for the transaction that holds its last bytes, oldest first: anyone can send
 * the address transactions afterwards. Reads at most `MOST_TRANSACTIONS` and continues after `after`. Fails like the
 * ledger.
 */
export const searchHistory = Effect.fn("searchHistory")(function* (
  address: Address,
  tombstone: Pick<ArchivedEscrow, "lastHash">,
  after: LedgerSignature | null,
) {
  const ledger = yield* Ledger;
  const { deployment } = yield* Instance;
  const landed = yield* landedOldestFirst(address);
  const from = landed.findIndex(({ signature }) => signature === after) + 1;
  const wanted = landed.slice(from, from + MOST_TRANSACTIONS);
  for (let at = 0; at < wanted.length; at += AT_ONCE) {
    const found = yield* Effect.forEach(
      wanted.slice(at, at + AT_ONCE),
      ({ signature }) => ledger.transaction(signature),
      { concurrency: AT_ONCE },
    );
    for (const transaction of found) {
      if (transaction === null) continue;
      for (const { escrow, data } of archivedBytesOf(transaction, deployment)) {
        if (escrow !== address) continue;
        const last = believedBytes(address, data, tombstone, deployment);
        if (last !== undefined) return { kind: "found", last } satisfies HistorySearch;
      }
    }
  }
  const end = wanted.at(-1);
  const ended: HistorySearch =
    end === undefined || from + wanted.length >= landed.length
      ? { kind: "nothing" }
      : { kind: "more", after: end.signature };
  return ended;
});
