import { Context, type Effect, Metric } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { Escrow, EscrowState } from "../../core/domain/escrow/escrow.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import type { UnseenEscrow } from "../../core/domain/index/indexed-escrow.ts";
import type { IndexedEvent } from "../../core/domain/index/settlement-event.ts";
import type { SyncMark } from "../../core/domain/index/sync-report.ts";
import type {
  Merchant,
  MerchantStats,
  MerchantStatus,
} from "../../core/domain/merchant/merchant.ts";
import type { UnixSeconds } from "../../core/domain/unix-time.ts";
import type { StoreUnavailable } from "./store-refusal.ts";

/** Filters that escrows and events share; undefined means any. */
export type EscrowFilter = {
  readonly merchant?: Address | undefined;
  readonly agentOwner?: Address | undefined;
  readonly state?: EscrowState | undefined;
  /** Pending escrows that have expired at this ledger time, and their events. */
  readonly refundableAt?: UnixSeconds | undefined;
  /** Beside `refundableAt` only: of those, the ones that expire after this ledger time. */
  readonly expiresAfter?: UnixSeconds | undefined;
};

/** Filters of events. An event's state is the one it led to. */
export type EventFilter = EscrowFilter & {
  readonly escrow?: Address | undefined;
  /** Only events whose transaction is not known. */
  readonly withoutTransaction?: true | undefined;
};

/** Which events of a filter: the newest below a position, or the oldest above one. */
export type EventRange = { readonly before: bigint | null } | { readonly after: bigint };

/** Where a page of merchants ended: the next begins with what sorts behind it, the earliest registered first. */
export type MerchantCursor = { readonly registeredAt: UnixSeconds; readonly address: Address };

/** Which merchants a page shows; a member that is undefined excludes none. */
export type MerchantFilter = {
  readonly status?: MerchantStatus | undefined;
  /** Substring of name, wallet, merchant address or attestor, by NFC and without case. */
  readonly text?: string | undefined;
  /** Inclusive. */
  readonly minReputation?: number | undefined;
};

/** A merchant with what the index counts of it. */
export type RegistryEntry = {
  readonly merchant: Merchant;
  readonly stats: MerchantStats;
  /** How many other merchants have the same `nameKey`. */
  readonly sameName: number;
};

/** What the index holds at some addresses: each escrow is in one of the two, or not there. */
export type EscrowsAt = {
  readonly escrows: ReadonlyArray<Escrow>;
  /** Archived escrows of which nobody has shown the bytes. */
  readonly unseen: ReadonlyArray<UnseenEscrow>;
};

/** What the index holds, counted. */
export type IndexSummary = {
  /** Escrows with all their fields, so without the unseen ones. */
  readonly escrows: number;
  /** Archived escrows of which nobody has shown the bytes. */
  readonly unseen: number;
  readonly merchants: number;
  /** Null before the first sync is complete; nothing is shown until then. */
  readonly mark: SyncMark | null;
  /**
   * When the last snapshot was complete: a build of the index, or a scan of all merchants. Unix milliseconds; null when
   * none is recorded.
   */
  readonly snapshotAtMs: number | null;
  /**
   * Where the store's content stands: between two answers that are the same number, nobody, this process or another,
   * has written anything. Null where the store cannot tell at a small part of a page's cost.
   */
  readonly revision: bigint | null;
};

/**
 * The reads of the persistent index of one ledger. It shows the state after exactly the event numbered
 * `summary.mark.count`, and no rows at all before the first mark.
 */
export class IndexReader extends Context.Service<
  IndexReader,
  {
    /** At most `limit` escrows with a `createdSeq` below `before`, newest first by `createdSeq`. */
    readonly escrows: (
      filter: EscrowFilter,
      limit: number,
      before: bigint | null,
    ) => Effect.Effect<ReadonlyArray<Escrow>, StoreUnavailable>;
    /** The stored ones of at most 1000 escrows, in any order, as they stand at one moment. */
    readonly escrowsAt: (
      addresses: ReadonlyArray<Address>,
    ) => Effect.Effect<EscrowsAt, StoreUnavailable>;
    /** At most `limit` escrows whose task hash or proof hash is this one, newest first by `createdSeq`. */
    readonly escrowsOfHash: (
      hash: Hash32,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<Escrow>, StoreUnavailable>;
    /**
     * At most `limit` events: newest first below `before`, or oldest first above `after`. Events of unseen escrows are
     * not among them, since nobody knows their parties.
     */
    readonly events: (
      filter: EventFilter,
      limit: number,
      range: EventRange,
    ) => Effect.Effect<ReadonlyArray<IndexedEvent>, StoreUnavailable>;
    /** At most `limit` merchants behind `after`, earliest first by (registeredAt, address as base58 text). */
    readonly merchants: (
      filter: MerchantFilter,
      limit: number,
      after: MerchantCursor | null,
    ) => Effect.Effect<ReadonlyArray<RegistryEntry>, StoreUnavailable>;
    /** How many merchants but the one at this address have the same `nameKey` as a name. */
    readonly sameNames: (name: string, except: Address) => Effect.Effect<number, StoreUnavailable>;
    readonly summary: Effect.Effect<IndexSummary, StoreUnavailable>;
  }
>()("settlement-evidence/ports/IndexReader") {}

/** Where the pages of an index that has a standby are read, by `from`. */
export const pageReads = Metric.counter("index_page_reads_total", {
  description:
    "Pages of the index by where they were read: standby; behind or away, where the primary read them in the standby's place. Absent without DATABASE_READ_URL.",
  incremental: true,
});
