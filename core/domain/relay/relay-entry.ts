import type { Address } from "../address.ts";
import type { LedgerSignature } from "../ledger/signature.ts";
import type { TransactionError } from "./transaction-outcome.ts";

/** What finally became of a relayed transaction; it never changes again. */
export type FinalOutcome =
  | {
      readonly status: "landed";
      /** The finalized slot it is in. */
      readonly slot: bigint;
      readonly error: TransactionError | null;
    }
  | {
      readonly status: "expired";
      /** A finalized block height beyond the last valid one, at which the history did not know it. */
      readonly blockHeight: bigint;
    };

/** One transaction the relay has taken on. */
export type RelayEntry = {
  readonly signature: LedgerSignature;
  /** The serialized transaction, as it is sent each time. */
  readonly transaction: Uint8Array;
  readonly feePayer: Address;
  /** No block higher than this can hold it. */
  readonly lastValidBlockHeight: bigint;
  /** A confirmed slot before it was first sent: it can have landed in later ones only. */
  readonly openedAtSlot: bigint;
  /** The service's clock, milliseconds. */
  readonly openedAtMs: number;
  /** Null while it is not known for good what became of it. */
  readonly outcome: FinalOutcome | null;
};
