import { Context, Effect } from "effect";
import type { Address } from "../../domain/address.ts";
import type { LedgerSignature } from "../../domain/ledger/signature.ts";
import { RecentlyUsed } from "../../domain/recently-used.ts";
import type { ArchivedEscrow } from "../../protocol/accounts/archived-escrow-account.ts";
import { encodeEscrowAccount } from "../../protocol/accounts/escrow-account.ts";
import { believedBytes, type LastBytes } from "../../protocol/accounts/last-bytes.ts";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { Instance } from "../../../ports/instance.ts";
import type { Ledger, LedgerFailure } from "../../../ports/ledger/ledger.ts";
import { monotonicMs } from "../monotonic-time.ts";
import { makeSingleFlight } from "../single-flight.ts";
import { searchHistory } from "./search-history.ts";

/** The least number of archived escrows kept; twice as many at most. At 1 KB each. */
const KEPT = 2000;
/** How long the result of a search that found nothing is kept, milliseconds. Each search costs many calls of the node. */
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
     * that hash to the tombstone count. Null when none were found. Fails like the ledger.
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
  const found = new RecentlyUsed<string, LastBytes>(KEPT);
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
    const result = yield* searchHistory(address, tombstone, search?.after ?? null);
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
    const known = found.get(key);
    if (known !== undefined) return known;
    const last =
      (yield* inIndex(address, tombstone)) ?? (yield* inHistory(key, address, tombstone)) ?? null;
    if (last !== null) found.set(key, last);
    return last;
  }, Effect.provide(context));

  return ArchivedEscrows.of({
    find: (address, tombstone) => {
      const key = `${address} ${tombstone.lastHash}`;
      return once(key, find(key, address, tombstone));
    },
  });
});
