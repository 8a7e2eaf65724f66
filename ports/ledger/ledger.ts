import { Context, Data, Effect, type Stream } from "effect";
import type { Address } from "../../core/domain/address.ts";
import type { AccountKind, LedgerAccount } from "../../core/domain/ledger/account.ts";
import type { HistoryPage, LedgerTransaction } from "../../core/domain/ledger/history.ts";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";

/**
 * What went wrong with one request to one node, for operators. It holds no path, query or credentials of an address.
 */
export type LedgerFault = {
  /** The node's scheme and host, with the port if there is one; null when no node was asked. */
  readonly node: string | null;
  /** The JSON-RPC method. */
  readonly method: string;
  /** The fault in one word, such as `rate_limited` or `behind`. */
  readonly kind: string;
  /** The HTTP status, null unless the status is the fault. */
  readonly httpStatus: number | null;
  /** The JSON-RPC error code, null unless the node answered with an error. */
  readonly rpcCode: number | null;
  /** The milliseconds for which the node asked to be left alone, null when it did not ask. */
  readonly retryAfterMs: number | null;
  /** What the operator can do about it: one sentence. */
  readonly cure: string;
};

/** What an answer contradicts: what the index proves, or what this service's relay saw confirmed. */
export type LedgerContradiction = "index" | "relay";

/**
 * No node gave a usable answer. `retryable` is false when a retry cannot help. `fault` tells of the last request; it is
 * absent when the answer was understood and contradicts what is known.
 */
export class LedgerUnavailable extends Data.TaggedError("LedgerUnavailable")<{
  readonly retryable: boolean;
  readonly cause: unknown;
  readonly fault?: LedgerFault;
  readonly contradicts?: LedgerContradiction;
}> {}

/** No node answered within `timeoutMs`. `fault` tells of the last request. */
export class LedgerTimeout extends Data.TaggedError("LedgerTimeout")<{
  readonly timeoutMs: number;
  readonly fault?: LedgerFault;
}> {}

/** How a read of the ledger fails. Neither failure says anything about the ledger's content. */
export type LedgerFailure = LedgerUnavailable | LedgerTimeout;

/** How final a slot must be: voted by a supermajority, or rooted and never undone. */
export type Commitment = "confirmed" | "finalized";

/** A value and the slot it was read at. */
export type AtSlot<T> = { readonly slot: bigint; readonly value: T };

/** Some accounts of a scan and the slot they were read at. */
export type ScannedAccounts = AtSlot<ReadonlyArray<LedgerAccount>> & {
  /**
   * Where a later scan of the kind can continue, once this chunk and those before it are kept. Most chunks have none.
   */
  readonly next?: string;
};

/** What a caller knows before a scan. */
export type ScanOptions = {
  /** About how many accounts the kind has. Many are read in pages, where a node offers them. */
  readonly expected?: bigint;
  /** The lowest slot of the answers. */
  readonly notBefore?: bigint;
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
    /**
     * The hash of the ledger's first block, base58. It identifies the ledger. It is the hash that a store has recorded
     * (`LedgerRecord`) or that a node showed first; no node is asked for it again.
     */
    readonly genesisHash: Effect.Effect<string, LedgerFailure>;
    /**
     * Asks a node for its genesis hash. Fails unless it is the recorded one; the node is then left alone until it is.
     */
    readonly confirmIdentity: Effect.Effect<void, LedgerFailure>;
    /**
     * The newest slot known at a commitment, and its block height. A node has just shown it, or one at most 32 slots
     * below.
     */
    readonly tip: (
      commitment: Commitment,
    ) => Effect.Effect<{ readonly slot: bigint; readonly blockHeight: bigint }, LedgerFailure>;
    /**
     * Up to 100 accounts of one slot, in the order asked for, null for a missing one. Data is cut at `mostDataBytes`,
     * by default `MOST_DATA_BYTES`; infinity cuts nothing. The slot is `notBefore` or a later one. Without it, accounts
     * that are all there may be up to 32 slots old, but never from before a slot at which one of them was seen or
     * relayed; a missing one is missing at the highest slot seen.
     */
    readonly readAccounts: (
      addresses: ReadonlyArray<Address>,
      commitment: Commitment,
      mostDataBytes?: number,
      notBefore?: bigint,
    ) => Effect.Effect<AtSlot<ReadonlyArray<LedgerAccount | null>>, LedgerFailure>;
    /**
     * Every finalized account of a kind, in chunks of at most 1000 with their slot. Memory does not grow with the
     * number of accounts, because they are read as they are consumed. After a node breaks off, accounts may come again.
     * A node that ignores filters may add accounts of other kinds. A scan that is too large for one answer comes in
     * pages where a node offers them, each of a slot of its own; else it is split at the kind's `splitAt`, if it has
     * one. The slot is `notBefore` or a later one, by default the highest slot seen.
     */
    readonly programAccounts: (
      kind: AccountKind,
      options?: ScanOptions,
    ) => Stream.Stream<ScannedAccounts, LedgerFailure>;
    /**
     * At most 1000 finalized transactions that name an address, newest first, after `before`. A node has been seen to
     * be as far as the slot at which the address was last seen here. But its list may lag behind its execution, and a
     * short one need not be the last. A node that does not know `before` returns an empty list. Fails as not retryable
     * when no node keeps history. `keptFrom` is null without asking for it where `needsStart` says that nobody needs it,
     * by default always.
     */
    readonly history: (
      address: Address,
      before: LedgerSignature | null,
      needsStart?: (entries: HistoryPage["entries"]) => boolean,
    ) => Effect.Effect<HistoryPage, LedgerFailure>;
    /** A finalized transaction, null when the answering node does not have it. */
    readonly transaction: (
      signature: LedgerSignature,
    ) => Effect.Effect<LedgerTransaction | null, LedgerFailure>;
  }
>()("settlement-evidence/ports/Ledger") {}

/** The slot from before which the ledger is not read. */
export class LedgerFloor extends Context.Service<
  LedgerFloor,
  {
    /**
     * Records a finalized slot whose state has been shown elsewhere, as the index shows it: no later read is of an
     * earlier one.
     */
    readonly raise: (slot: bigint) => Effect.Effect<void>;
  }
>()("settlement-evidence/ports/LedgerFloor") {}

/**
 * Makes later reads of the ledger ask another of the configured nodes first; false where there is only one. For answers
 * that contradict what is proved: the node that gave them would give them again.
 */
export const AskAnotherNode = Context.Reference<Effect.Effect<boolean>>(
  "settlement-evidence/ports/AskAnotherNode",
  { defaultValue: () => Effect.succeed(false) },
);

/** Who waits for a request to the ledger: a caller (`live`), or nobody (`background`). */
export type Lane = "live" | "background";

/**
 * The lane of the running fiber's requests to the ledger, `live` by default. Where a node limits requests, background
 * work leaves a share of them to callers, and waits longer.
 */
export const LedgerLane = Context.Reference<Lane>("settlement-evidence/ports/LedgerLane", {
  defaultValue: () => "live",
});

/** Which node gave an answer, and to which method. */
export type AnswerSource = {
  /** The node's scheme and host, with the port if there is one. */
  readonly node: string;
  /** The JSON-RPC method. */
  readonly method: string;
  /** The node's place in the configuration, from 0: two nodes may share a host. */
  readonly index: number;
};

/** How many nodes of the ledger are configured, at least 1. */
export const NodeCount = Context.Reference<number>("settlement-evidence/ports/NodeCount", {
  defaultValue: () => 1,
});

/**
 * The node, by its place in the configuration, that the running fiber's requests leave out; null leaves out none. For a
 * "no", which counts once another node has said it too.
 */
export const ExceptNode = Context.Reference<number | null>("settlement-evidence/ports/ExceptNode", {
  defaultValue: () => null,
});

/** Where an adapter notes whose answer the running fiber got last; null where nobody asks. */
export const LastAnswer = Context.Reference<{ source: AnswerSource | null } | null>(
  "settlement-evidence/ports/LastAnswer",
  { defaultValue: () => null },
);

/** The configured nodes of the ledger, one by one. */
export class LedgerNodes extends Context.Service<
  LedgerNodes,
  {
    /** How many nodes are configured, at least 1. */
    readonly count: number;
    /**
     * A finalized account as each node shows it, in the order of the configuration; null for a node without a usable
     * answer.
     */
    readonly readFromEach: (
      address: Address,
    ) => Effect.Effect<ReadonlyArray<AtSlot<LedgerAccount | null> | null>>;
  }
>()("settlement-evidence/ports/LedgerNodes") {}

/** A node's fault as one line: where, what was asked, what came back, and the cure. */
export const ledgerFaultText = ({
  node,
  method,
  kind,
  httpStatus,
  rpcCode,
  cure,
}: LedgerFault): string => {
  const code = rpcCode ?? httpStatus;
  const where = node === null ? method : `${node}: ${method}`;
  return `${where}: ${kind}${code === null ? "" : ` (${code})`}. ${cure}`;
};
