import { Context, Data, type Effect, type Stream } from "effect";
import type { AccountKind } from "../core/domain/ledger/account-kind.ts";
import type { Address } from "../core/domain/address.ts";
import type { LedgerAccount } from "../core/domain/ledger/account.ts";
import type { HistoryPage, LedgerTransaction } from "../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../core/domain/ledger/signature.ts";

/** No node gave a usable answer. `retryable` is false when asking again cannot help. */
export class LedgerUnavailable extends Data.TaggedError("LedgerUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
}> {}

/** No node answered within `timeoutMs`. */
export class LedgerTimeout extends Data.TaggedError("LedgerTimeout")<{
  readonly timeoutMs: number;
}> {}

/** How a read of the ledger fails; neither says anything about what the ledger holds. */
export type LedgerFailure = LedgerUnavailable | LedgerTimeout;

/** How final a slot must be: voted by a supermajority, or rooted and never undone. */
export type Commitment = "confirmed" | "finalized";

/** An answer together with the slot it was read at. */
export type AtSlot<T> = { readonly slot: bigint; readonly value: T };

/**
 * How many bytes of an account's data are read unless a caller asks for another number: more than those accounts have
 * whose fields the service decodes. Anybody can name accounts of 10 MiB, and the answer for two of them is too long.
 */
export const MOST_DATA_BYTES = 10_240;

/** What the service reads of the ledger. */
export class Ledger extends Context.Service<
  Ledger,
  {
    /** The hash of the ledger's first block, base58: which ledger this is. */
    readonly genesisHash: Effect.Effect<string, LedgerFailure>;
    /** The newest slot at a commitment, and its block height. */
    readonly tip: (
      commitment: Commitment,
    ) => Effect.Effect<{ readonly slot: bigint; readonly blockHeight: bigint }, LedgerFailure>;
    /**
     * Up to 100 accounts, in the order asked for, null where there is none; all of one slot. Data longer than
     * `mostDataBytes` is cut there; `MOST_DATA_BYTES` without it, and nothing is cut at infinity.
     */
    readonly readAccounts: (
      addresses: ReadonlyArray<Address>,
      commitment: Commitment,
      mostDataBytes?: number,
    ) => Effect.Effect<AtSlot<ReadonlyArray<LedgerAccount | null>>, LedgerFailure>;
    /**
     * Every account of a kind, finalized, in chunks of at most 1000 that each carry their slot. Read
     * as it is taken, so that memory does not grow with the number of accounts. An account can come more
     * than once, when a node breaks off in the middle, and others among them from a node that does not
     * tell kinds apart. A scan too large for one answer is split at the kind's `splitAt`; without one it never is.
     */
    readonly programAccounts: (
      kind: AccountKind,
    ) => Stream.Stream<AtSlot<ReadonlyArray<LedgerAccount>>, LedgerFailure>;
    /**
     * At most 1000 finalized transactions that name an address, newest first, behind `before`. What a node
     * lists can lag behind what it has executed, and another node may not know `before`: it then
     * lists nothing.
     */
    readonly history: (
      address: Address,
      before: LedgerSignature | null,
    ) => Effect.Effect<HistoryPage, LedgerFailure>;
    /** A finalized transaction, null when the node that answers does not have it, or no longer. */
    readonly transaction: (
      signature: LedgerSignature,
    ) => Effect.Effect<LedgerTransaction | null, LedgerFailure>;
  }
>()("settlement-evidence/ports/Ledger") {}
