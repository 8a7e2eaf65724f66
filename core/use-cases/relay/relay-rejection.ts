import type {
  LandedTransaction,
  TransactionError,
} from "../../domain/relay/transaction-outcome.ts";
import type { WireTransaction } from "../../protocol/transaction/wire-transaction.ts";
import { TransactionRejected } from "./relay-errors.ts";

/** The rejection of a transaction that failed in a simulation or, with `landed`, on the ledger. */
export const rejected = (
  { signature, instructions }: WireTransaction,
  error: TransactionError | null,
  logs: ReadonlyArray<string>,
  landed: LandedTransaction | null = null,
): TransactionRejected =>
  new TransactionRejected({
    signature,
    error,
    logs,
    program: instructions[error?.instructionIndex ?? -1]?.program ?? null,
    landed,
  });
