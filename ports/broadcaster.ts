import { Context, Data, type Effect } from "effect";
import type { LedgerSignature } from "../core/domain/ledger/signature.ts";
import type {
  LandedTransaction,
  Simulation,
  TransactionError,
} from "../core/domain/relay/transaction-outcome.ts";
import type { LedgerFailure } from "./ledger.ts";

/** The node refused the transaction before sending it on; it has not landed by this call. */
export class SubmissionRefused extends Data.TaggedError("SubmissionRefused")<{
  /** Null when the node gave a reason outside of the runtime's errors. */
  readonly error: TransactionError | null;
  readonly logs: ReadonlyArray<string>;
}> {}

/** What one node's history says of some transactions, in the order asked for. */
export type HistorySearch = {
  readonly landed: ReadonlyArray<LandedTransaction | null>;
  readonly completeFrom: bigint;
};

/** How already signed transactions reach the ledger, and what became of them. */
export class Broadcaster extends Context.Service<
  Broadcaster,
  {
    /** Whether a blockhash, base58, can still carry a transaction. */
    readonly isBlockhashValid: (blockhash: string) => Effect.Effect<boolean, LedgerFailure>;
    /** The fee in lamports of a serialized message, null when its blockhash is not known. */
    readonly fee: (message: Uint8Array) => Effect.Effect<bigint | null, LedgerFailure>;
    /** Runs a serialized transaction without landing it. */
    readonly simulate: (transaction: Uint8Array) => Effect.Effect<Simulation, LedgerFailure>;
    /**
     * Hands a serialized transaction to every node once, without the nodes' own preflight or retries; done
     * as soon as one has taken it, refused when none has.
     */
    readonly submit: (
      transaction: Uint8Array,
    ) => Effect.Effect<void, LedgerFailure | SubmissionRefused>;
    /** What the ledger's history knows of a transaction, null when it knows nothing. */
    readonly landed: (
      signature: LedgerSignature,
    ) => Effect.Effect<LandedTransaction | null, LedgerFailure>;
    /** The same for up to 256 transactions, in the order asked for, by one node at one moment. */
    readonly landedAll: (
      signatures: ReadonlyArray<LedgerSignature>,
    ) => Effect.Effect<ReadonlyArray<LandedTransaction | null>, LedgerFailure>;
    /**
     * The same with the slot from which that very node still had the whole history when it had answered: of
     * earlier ones its silence proves nothing, and what another node has kept proves nothing for it.
     */
    readonly searchAll: (
      signatures: ReadonlyArray<LedgerSignature>,
    ) => Effect.Effect<HistorySearch, LedgerFailure>;
    /** The log lines of a landed transaction, empty when its history is gone. */
    readonly logs: (
      signature: LedgerSignature,
    ) => Effect.Effect<ReadonlyArray<string>, LedgerFailure>;
  }
>()("settlement-evidence/ports/Broadcaster") {}
