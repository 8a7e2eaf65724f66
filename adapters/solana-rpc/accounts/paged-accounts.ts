import { Effect } from "effect";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";
import type { AccountKind } from "../../../core/domain/ledger/account.ts";
import {
  type LedgerFailure,
  LedgerUnavailable,
  type ScannedAccounts,
  type ScanOptions,
} from "../../../ports/ledger/ledger.ts";
import { refusalAsUnavailable } from "../pool/fail-over.ts";
import type { NodePool } from "../pool/node-pool.ts";
import { mayNotOffer, optionalMethod } from "../pool/optional-method.ts";

/** A filter for accounts with these bytes at `offset` (Agave `rpc-client-types`, `RpcFilterType::Memcmp`). */
export const bytesAt = (offset: number, bytes: Uint8Array) => ({
  memcmp: { offset, bytes: encodeBase58(bytes) },
});

/** The filters for the accounts of a kind. A node accepts up to four. */
const filtersOf = ({ length, discriminator }: AccountKind): ReadonlyArray<object> => [
  { dataSize: length },
  bytesAt(0, discriminator),
];

/** The largest page that the providers of getProgramAccountsV2 give. */
export const PAGE_ACCOUNTS = 10_000;
/** More pages than any program of this kind needs: a thousand million accounts. Each costs memory for its cursor. */
const MOST_PAGES = 100_000;
/** Filters can empty a page before it is sent. This number of empty pages in a row shows a node that leads nowhere. */
const MOST_EMPTY_PAGES = 1000;
const astray = (reason: string) =>
  new LedgerUnavailable({ retryable: true, cause: new Error(`a node's pages ${reason}`) });

/** A page that was read: the accounts are taken. `next` is null after the last page. */
type Page = { readonly slot: bigint; readonly accounts: number; readonly next: string | null };

/** Takes the chunks of a scan as they arrive. */
export type TakeChunk = (chunk: ScannedAccounts) => Effect.Effect<void>;

/**
 * One request for accounts of a kind, read into `take` at a slot of at least `notBefore` or of what was seen; its slot.
 */
export const scanInto = Effect.fnUntraced(function* (
  pool: NodePool["Service"],
  kind: AccountKind,
  notBefore: bigint | undefined,
  asked: { readonly filters?: ReadonlyArray<object>; readonly [option: string]: unknown },
  take: TakeChunk,
  paged?: (next: string | null) => void,
) {
  const lowest = pool.slots.boundsOf("finalized", [], notBefore).absent;
  const options = {
    encoding: "base64",
    withContext: true,
    commitment: "finalized",
    ...(lowest > 0 ? { minContextSlot: lowest } : {}),
    ...asked,
    filters: [...filtersOf(kind), ...(asked.filters ?? [])],
  };
  const slot = yield* pool.scan([kind.program, options], {
    ...(paged && { paged }),
    judge: (slot) => pool.slots.judge(lowest, slot),
    emit: take,
  });
  pool.slots.saw("finalized", slot);
  return slot;
}, refusalAsUnavailable);

/**
 * Scans of program accounts by getProgramAccountsV2: pages of 10,000 with a cursor, read one after the other. Whether
 * the nodes offer the method is found out by the first page, and remembered.
 */
export const pagedAccounts = (pool: NodePool["Service"]) => {
  const offering = optionalMethod();

  const page = Effect.fn("Ledger.programAccounts.page")(function* (
    kind: AccountKind,
    cursor: string | null,
    { changedSince, notBefore }: ScanOptions,
    take: TakeChunk,
  ) {
    const options = {
      limit: PAGE_ACCOUNTS,
      ...(cursor === null ? {} : { paginationKey: cursor }),
      ...(changedSince === undefined ? {} : { changedSinceSlot: Number(changedSince) }),
    };
    let next: string | null = null;
    let accounts = 0;
    const counted: TakeChunk = (chunk) => {
      accounts += chunk.value.length;
      return take(chunk);
    };
    const slot = yield* scanInto(
      pool,
      kind,
      notBefore,
      options,
      counted,
      (told) => void (next = told),
    );
    const read: Page = { slot: BigInt(slot), accounts, next };
    return read;
  });

  /** As `page`, but from the beginning when the nodes do not take the cursor; null when they do not offer pages. */
  const firstPage = (
    kind: AccountKind,
    { after, ...options }: ScanOptions,
    take: TakeChunk,
  ): Effect.Effect<Page | null, LedgerFailure> =>
    Effect.catchIf(page(kind, after ?? null, options, take), mayNotOffer, (failure) => {
      if (after !== undefined) return firstPage(kind, options, take);
      return offering.isKnown ? Effect.fail(failure) : Effect.succeed(null);
    });

  /**
   * Scans a kind into `take`. False, with nothing taken, when the nodes do not offer pages. A cursor that came before,
   * and pages without accounts and without end, are faults of the node.
   */
  return Effect.fnUntraced(function* (kind: AccountKind, options: ScanOptions, take: TakeChunk) {
    if (!(yield* offering.isWorthAsking)) return false;
    const cursors = new Set<string>(options.after === undefined ? [] : [options.after]);
    let read: Page | null = yield* firstPage(kind, options, take);
    yield* offering.note(read !== null);
    if (read === null) return false;
    let empty = 0;
    for (let next = read.next; next !== null; next = read.next) {
      if (cursors.has(next)) return yield* astray("lead back to one that came before");
      if (cursors.size >= MOST_PAGES) return yield* astray("have no end");
      cursors.add(next);
      empty = read.accounts === 0 ? empty + 1 : 0;
      if (empty >= MOST_EMPTY_PAGES) return yield* astray("are empty without end");
      yield* take({ slot: read.slot, value: [], next });
      read = yield* page(kind, next, options, take);
    }
    return true;
  });
};
