import { Context, Data, type Effect } from "effect";
import type { LedgerSignature } from "../../core/domain/ledger/signature.ts";
import type {
  LandedTransaction,
  ShownTransaction,
  Simulation,
  TransactionError,
} from "../../core/domain/relay/relay-entry.ts";
import type { LedgerFailure } from "./ledger.ts";

/** The node refused the transaction and did not send it on. */
export class SubmissionRefused extends Data.TaggedError("SubmissionRefused")<{
  /** Null when the node's reason is not a runtime error. */
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
}> {}

/** One node's history of some transactions, in the order asked for. */
export type HistorySearch = {
  readonly landed: ReadonlyArray<LandedTransaction | null>;
  /** The first slot of its history, null when the node does not say. */
  readonly completeFrom: bigint | null;
};

/** Sends signed transactions to the ledger and reads their outcomes. */
export class Broadcaster extends Context.Service<
  Broadcaster,
  {
    /** Whether a blockhash (base58) is valid for a transaction now. */
    readonly isBlockhashValid: (blockhash: string) => Effect.Effect<boolean, LedgerFailure>;
    /** The fee in lamports of a serialized message, null when its blockhash is not known. */
    readonly fee: (message: Uint8Array) => Effect.Effect<bigint | null, LedgerFailure>;
    /** Runs a serialized transaction without landing it. */
    readonly simulate: (transaction: Uint8Array) => Effect.Effect<Simulation, LedgerFailure>;
    /**
     * Sends a serialized transaction to every node once, without the nodes' own preflight or retries. Succeeds when one
     * node has accepted it, fails with `SubmissionRefused` when all refused.
     */
    readonly submit: (
      transaction: Uint8Array,
    ) => Effect.Effect<void, LedgerFailure | SubmissionRefused>;
    /** Where the ledger's history shows a transaction, null when it does not. */
    readonly landed: (
      signature: LedgerSignature,
    ) => Effect.Effect<LandedTransaction | null, LedgerFailure>;
    /** The same for up to 256 transactions, in the order asked for, from one node at one moment. */
    readonly landedAll: (
      signatures: ReadonlyArray<LedgerSignature>,
    ) => Effect.Effect<ReadonlyArray<LandedTransaction | null>, LedgerFailure>;
    /**
     * As `landedAll`, with the first slot of that same node's history, read after the search. A null proves nothing
     * about transactions before that slot, another node's history proves nothing for this one, and some nodes show only
     * the newest transactions whatever they say.
     */
    readonly searchAll: (
      signatures: ReadonlyArray<LedgerSignature>,
    ) => Effect.Effect<HistorySearch, LedgerFailure>;
    /** A landed transaction as a node's history shows it, null when it does not. */
    readonly shown: (
      signature: LedgerSignature,
    ) => Effect.Effect<ShownTransaction | null, LedgerFailure>;
  }
>()("settlement-evidence/ports/Broadcaster") {}
