import { Context, Data, type Effect } from "effect";
import type { Address } from "../core/domain/address.ts";
import type { Escrow, EscrowState } from "../core/domain/escrow/escrow.ts";
import type { Merchant, MerchantStatus } from "../core/domain/merchant/merchant.ts";
import type { MerchantStats } from "../core/domain/merchant/merchant-stats.ts";
import type {
  EventReference,
  IndexedEvent,
  SettlementEvent,
} from "../core/domain/index/settlement-event.ts";
import type { UnixSeconds } from "../core/domain/unix-time.ts";

/** The store could not be read or written. */
export class StoreUnavailable extends Data.TaggedError("StoreUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
}> {}

/** A row and the slot at which the ledger showed it. */
export type Observed<T> = { readonly row: T; readonly slot: bigint };

/** Up to where the store is complete. */
export type SyncCheckpoint = {
  readonly slot: bigint;
  /** The ledger's clock at that slot. */
  readonly ledgerTime: UnixSeconds;
  /** The service's own clock when the sync ended, whole milliseconds. */
  readonly atMs: number;
};

/**
 * What one step of a sync found. It is applied whole or not at all. An account observed at a lower slot
 * than the store's own row changes nothing, and a settled escrow never changes again. A row's slot is
 * that of the newest observation of a merchant; for an escrow, which has no way back, that of the
 * observation which last changed it.
 */
export type IndexBatch = {
  readonly escrows: ReadonlyArray<Observed<Escrow>>;
  readonly merchants: ReadonlyArray<Observed<Merchant>>;
  /**
   * The events of `escrows`, oldest first. Passed over are those the store has already and those its
   * rows do not prove: an unknown escrow's, or a settlement other than the row's own.
   */
  readonly events: ReadonlyArray<SettlementEvent>;
  /**
   * Transactions of events, for those that the store has, this batch's included, and that have none yet.
   * Position and chain hash of an event do not depend on its transaction.
   */
  readonly references?: ReadonlyArray<EventReference>;
  /** Present on a sync's last batch. A checkpoint of a lower slot than the store's own changes nothing. */
  readonly checkpoint: SyncCheckpoint | null;
};

/** How many rows a batch changed. */
export type RowChanges = {
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
};
export type BatchResult = {
  readonly escrows: RowChanges;
  readonly merchants: RowChanges;
  readonly eventsAdded: number;
};

/** Filters that escrows and events share; undefined means any. */
export type EscrowFilter = {
  readonly merchant?: Address | undefined;
  readonly agentOwner?: Address | undefined;
  readonly state?: EscrowState | undefined;
  /** Pending escrows that have expired at this ledger time, and their events. */
  readonly refundableAt?: UnixSeconds | undefined;
};

/** Where a page of escrows ended: the next begins with what sorts behind it, newest first. */
export type EscrowCursor = { readonly createdAt: UnixSeconds; readonly address: Address };

/** Where a page of merchants ended: the next begins with what sorts behind it, the earliest registered first. */
export type MerchantCursor = { readonly registeredAt: UnixSeconds; readonly address: Address };

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

export type IndexSummary = {
  readonly escrows: number;
  readonly merchants: number;
  readonly events: number;
  /** The checkpoint of the last completed sync, null before the first. */
  readonly checkpoint: SyncCheckpoint | null;
};

/** The persistent index of escrows, merchants and settlement events of one ledger. */
export class EscrowIndex extends Context.Service<
  EscrowIndex,
  {
    readonly apply: (batch: IndexBatch) => Effect.Effect<BatchResult, StoreUnavailable>;
    /** At most `limit` escrows behind `after`, newest first by (createdAt, address as base58 text). */
    readonly escrows: (
      filter: EscrowFilter,
      limit: number,
      after: EscrowCursor | null,
    ) => Effect.Effect<ReadonlyArray<Escrow>, StoreUnavailable>;
    /** The stored ones of at most 1000 escrows, in any order. */
    readonly escrowsAt: (
      addresses: ReadonlyArray<Address>,
    ) => Effect.Effect<ReadonlyArray<Escrow>, StoreUnavailable>;
    /** At most `limit` events with a position below `before`, newest first by position. */
    readonly events: (
      filter: EscrowFilter,
      limit: number,
      before: bigint | null,
    ) => Effect.Effect<ReadonlyArray<IndexedEvent>, StoreUnavailable>;
    /** At most `limit` events with a position above `after`, oldest first. */
    readonly eventsAfter: (
      filter: EscrowFilter,
      limit: number,
      after: bigint,
    ) => Effect.Effect<ReadonlyArray<IndexedEvent>, StoreUnavailable>;
    /** At most `limit` events above `after` whose transaction is not known, oldest first. */
    readonly eventsWithoutReference: (
      limit: number,
      after: bigint,
    ) => Effect.Effect<ReadonlyArray<IndexedEvent>, StoreUnavailable>;
    /** The events of one escrow, oldest first; none for an escrow that the index does not know. */
    readonly eventsOfEscrow: (
      escrow: Address,
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
    /**
     * Where the store's content stands: between two answers that are the same number, nobody, this process or
     * another, has written anything. Null where the store cannot tell at a small part of a page's cost.
     */
    readonly revision: Effect.Effect<bigint | null, StoreUnavailable>;
  }
>()("settlement-evidence/ports/EscrowIndex") {}
