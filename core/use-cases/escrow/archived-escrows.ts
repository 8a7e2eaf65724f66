import { Context, Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import { Ledger, type LedgerFailure } from "../../../ports/ledger/ledger.ts";
import type { Address } from "../../domain/address.ts";
import type { HistoryEntry } from "../../domain/ledger/history.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import {
  type ArchivedEscrow,
  believedBytes,
  type LastBytes,
} from "../../protocol/accounts/archived-escrow-account.ts";
import { encodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { archivedBytesOf } from "../../protocol/transaction/transaction-effects.ts";
import { ofTwoNodes } from "../or-ask-another.ts";
import { makeSingleFlight, monotonicMs } from "../single-flight.ts";

/** The most transactions that a search lists, and the pages that it takes: some providers list a hundred a page. */
const MOST_LISTED = 64_000;
const MOST_PAGES = MOST_LISTED / 100;
/** Transactions read per search. */
export const MOST_TRANSACTIONS = 256;
const AT_ONCE = 8;

/** How a search of an escrow's history ends. */
type HistorySearch =
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
      () => false,
    );
    const sizeBefore = listed.size;
    for (const entry of entries) listed.set(entry.signature, entry);
    const oldest = [...listed.values()].reduce<HistoryEntry | null>(
      (low, entry) => (low === null || entry.slot <= low.slot ? entry : low),
      null,
    );
    if (oldest === null || listed.size === sizeBefore) break;
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
    const transactions = yield* Effect.forEach(
      wanted.slice(at, at + AT_ONCE),
      ({ signature }) => ledger.transaction(signature),
      { concurrency: AT_ONCE },
    );
    for (const transaction of transactions) {
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

/** The least number of archived escrows kept; twice as many at most. At 1 KB each. */
const KEPT = 2000;
/**
 * How long the result of a search that found nothing is kept, milliseconds. Each search costs many calls of the node.
 */
export const SEARCH_AGAIN_MS = 600_000;

/** The progress of the search of one escrow's history. */
type Search = {
  readonly after: LedgerSignature | null;
  /** When the whole history was read without success, null before that. */
  readonly endedMs: number | null;
};

/** The archived escrows that this process can read back. */
export class ArchivedEscrows extends Context.Service<
  ArchivedEscrows,
  {
    /**
     * The escrow behind a finalized tombstone: from the index, or from the transaction that archived it. Only bytes
     * that hash to the tombstone count. Null when none were found, at two nodes where two are configured. Fails like the
     * ledger.
     */
    readonly find: (
      address: Address,
      tombstone: ArchivedEscrow,
    ) => Effect.Effect<LastBytes | null, LedgerFailure>;
  }
>()("settlement-evidence/core/use-cases/ArchivedEscrows") {}

/** The process's one `ArchivedEscrows`. Its reads of the ledger end with the scope. */
export const makeArchivedEscrows = Effect.gen(function* () {
  const scope = yield* Effect.scope;
  const context = yield* Effect.context<Ledger | Instance>();
  const index = yield* IndexReader;
  const { deployment } = yield* Instance;
  const lastBytes = new RecentlyUsed<string, LastBytes>(KEPT);
  const searches = new RecentlyUsed<string, Search>(KEPT);
  const once = makeSingleFlight<LastBytes | null, LedgerFailure>(scope);

  const inIndex = Effect.fnUntraced(function* (address: Address, tombstone: ArchivedEscrow) {
    const none = { escrows: [] };
    const { escrows } = yield* Effect.orElseSucceed(index.escrowsAt([address]), () => none);
    return escrows
      .map((row) => believedBytes(address, encodeEscrowAccount(row), tombstone, deployment))
      .find((bytes) => bytes !== undefined);
  });

  const inHistory = Effect.fnUntraced(function* (
    key: string,
    address: Address,
    tombstone: ArchivedEscrow,
  ) {
    const nowMs = yield* monotonicMs;
    const search = searches.get(key);
    const endedMs = search?.endedMs ?? null;
    if (endedMs !== null && nowMs - endedMs < SEARCH_AGAIN_MS) return undefined;
    const { value: result } = yield* ofTwoNodes(
      searchHistory(address, tombstone, search?.after ?? null),
      ({ kind }) => kind === "nothing",
    );
    if (result.kind === "found") return result.last;
    searches.set(
      key,
      result.kind === "more"
        ? { after: result.after, endedMs: null }
        : { after: null, endedMs: nowMs },
    );
    return undefined;
  });

  const find = Effect.fnUntraced(function* (
    key: string,
    address: Address,
    tombstone: ArchivedEscrow,
  ) {
    const kept = lastBytes.get(key);
    if (kept !== undefined) return kept;
    const last =
      (yield* inIndex(address, tombstone)) ?? (yield* inHistory(key, address, tombstone)) ?? null;
    if (last !== null) lastBytes.set(key, last);
    return last;
  }, Effect.provide(context));

  return ArchivedEscrows.of({
    find: (address, tombstone) => {
      const key = `${address} ${tombstone.lastHash}`;
      return once(key, find(key, address, tombstone));
    },
  });
});
