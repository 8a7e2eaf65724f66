import type { Address } from "../address.ts";
import type { LedgerSignature } from "../ledger/signature.ts";
import type { TransactionError } from "./transaction-outcome.ts";

/** The final outcome of a relayed transaction. It never changes. */
export type FinalOutcome =
  | {
      readonly status: "landed";
      /** The finalized slot it is in. */
      readonly slot: bigint;
      readonly error: TransactionError | null;
    }
  | {
      readonly status: "expired";
      /** A finalized block height beyond the last valid one, at which the history had no such transaction. */
      readonly blockHeight: bigint;
      /** The transaction that did instead what this one would have done; null when nothing did. */
      readonly supersededBy: LedgerSignature | null;
    };

/** One transaction the relay has taken on. */
export type RelayEntry = {
  readonly signature: LedgerSignature;
  /** The serialized transaction, the same bytes for each sending. */
  readonly transaction: Uint8Array;
  readonly feePayer: Address;
  /** The last block height at which it can land. */
  readonly lastValidBlockHeight: bigint;
  /** A confirmed slot before its first sending. It can only land in later slots. */
  readonly openedAtSlot: bigint;
  /** The service's clock, milliseconds. */
  readonly openedAtMs: number;
  /** Null while the outcome is not final. */
  readonly outcome: FinalOutcome | null;
};
