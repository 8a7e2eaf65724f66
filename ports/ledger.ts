import { Context, Data, type Effect, type Stream } from "effect";
import type { AccountKind } from "../core/domain/ledger/account-kind.ts";
import type { Address } from "../core/domain/address.ts";
import type { LedgerAccount } from "../core/domain/ledger/account.ts";
import type { HistoryPage, LedgerTransaction } from "../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../core/domain/ledger/signature.ts";

/** No node gave a usable answer. `retryable` is false when a retry cannot help. */
export class LedgerUnavailable extends Data.TaggedError("LedgerUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
}> {}

/** No node answered within `timeoutMs`. */
export class LedgerTimeout extends Data.TaggedError("LedgerTimeout")<{
  readonly timeoutMs: number;
}> {}

/** How a read of the ledger fails. Neither failure says anything about the ledger's content. */
export type LedgerFailure = LedgerUnavailable | LedgerTimeout;

/** How final a slot must be: voted by a supermajority, or rooted and never undone. */
export type Commitment = "confirmed" | "finalized";

/** A value and the slot it was read at. */
export type AtSlot<T> = { readonly slot: bigint; readonly value: T };

/** Some accounts of a scan and the slot they were read at. */
export type ScannedAccounts = AtSlot<ReadonlyArray<LedgerAccount>> & {
  /** Where a later scan of the kind can continue, once this chunk and those before it are kept. Most chunks have none. */
  readonly next?: string;
};

/** What a caller knows before a scan. */
export type ScanOptions = {
  /** About how many accounts the kind has. Many are read in pages, where a node offers them. */
  readonly expected?: bigint;
  /** The last `next` of an earlier scan. A node that does not know it shows all accounts. */
  readonly after?: string;
  /**
   * Shows only accounts that were written at this slot or later. Where no node offers that, the stream is empty. Nodes
   * may leave accounts out, so the caller must be able to tell whether one is missing.
   */
  readonly changedSince?: bigint;
};

/**
 * The default limit on bytes of an account's data, more than any decoded account has. Anybody can name accounts of 10
 * MiB, and an answer with two of them is too long.
 */
export const MOST_DATA_BYTES = 10_240;

/** The reads of the ledger. */
export class Ledger extends Context.Service<
  Ledger,
  {
    /** The hash of the ledger's first block, base58. It identifies the ledger. */
    readonly genesisHash: Effect.Effect<string, LedgerFailure>;
    /** The newest slot at a commitment, and its block height. */
    readonly tip: (
      commitment: Commitment,
    ) => Effect.Effect<{ readonly slot: bigint; readonly blockHeight: bigint }, LedgerFailure>;
    /**
     * Up to 100 accounts of one slot, in the order asked for, null for a missing one. Data is cut at `mostDataBytes`,
     * by default `MOST_DATA_BYTES`; infinity cuts nothing.
     */
    readonly readAccounts: (
      addresses: ReadonlyArray<Address>,
      commitment: Commitment,
      mostDataBytes?: number,
    ) => Effect.Effect<AtSlot<ReadonlyArray<LedgerAccount | null>>, LedgerFailure>;
    /**
     * Every finalized account of a kind, in chunks of at most 1000 with their slot. Memory does not grow with the
     * number of accounts, because they are read as they are consumed. After a node breaks off, accounts may come again.
     * A node that ignores filters may add accounts of other kinds. A scan that is too large for one answer comes in
     * pages where a node offers them, each of a slot of its own; else it is split at the kind's `splitAt`, if it has one.
     */
    readonly programAccounts: (
      kind: AccountKind,
      options?: ScanOptions,
    ) => Stream.Stream<ScannedAccounts, LedgerFailure>;
    /**
     * At most 1000 finalized transactions that name an address, newest first, after `before`. A node's list may lag
     * behind its execution, and a short one need not be the last. A node that does not know `before` returns an empty
     * list. Fails as not retryable when no node keeps history.
     */
    readonly history: (
      address: Address,
      before: LedgerSignature | null,
    ) => Effect.Effect<HistoryPage, LedgerFailure>;
    /** A finalized transaction, null when the answering node does not have it. */
    readonly transaction: (
      signature: LedgerSignature,
    ) => Effect.Effect<LedgerTransaction | null, LedgerFailure>;
  }
>()("settlement-evidence/ports/Ledger") {}
