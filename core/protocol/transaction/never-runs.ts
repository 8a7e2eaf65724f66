import type { TransactionError } from "../../domain/relay/relay-entry.ts";
import { COMPUTE_BUDGET_PROGRAM } from "../addresses/well-known-addresses.ts";
import type { WireTransaction } from "./wire-transaction.ts";

/**
 * The errors that a ledger finds before it runs the first instruction, and whose cause is the transaction's own
 * bytes, its payer or its programs (Agave `transaction-error`, `svm/src/account_loader.rs`,
 * `runtime/src/bank/check_transactions.rs`). Another transaction can still change payer and programs. Their
 * errors are listed too, because the transaction cannot run before that change.
 *
 * The other errors are not final: `BlockhashNotFound`, `AccountNotFound` and the errors of address tables (the
 * node may be behind, or the cause under way), `AlreadyProcessed` (perhaps this very transaction has landed),
 * and those of a full block.
 */
export const NEVER_RUNS: ReadonlyArray<string> = [
  "AccountLoadedTwice",
  "DuplicateInstruction",
  "InsufficientFundsForFee",
  "InvalidAccountForFee",
  "InvalidAccountIndex",
  "InvalidLoadedAccountsDataSizeLimit",
  "InvalidProgramForExecution",
  "InvalidWritableAccount",
  "MaxLoadedAccountsDataSizeExceeded",
  "MissingSignatureForFee",
  "ProgramAccountNotFound",
  "SanitizeFailure",
  "SignatureFailure",
  "TooManyAccountLocks",
  "UnsupportedVersion",
];

/**
 * Whether a simulation's error says that no instruction of the transaction can run on the ledger as it stands:
 * one of `NEVER_RUNS`; invalid data of a Compute Budget instruction, which is read before anything runs; or too
 * little rent where nothing is logged, which is the payer's after the fee. With log lines the latter is found
 * after the instructions, and the transaction lands as a failure.
 */
export const neverRuns = (
  { instructions }: Pick<WireTransaction, "instructions">,
  { kind, instructionIndex, instructionError }: TransactionError,
  logs: ReadonlyArray<string>,
): boolean => {
  if (kind === "InstructionError")
    return (
      instructionError === "InvalidInstructionData" &&
      instructions[instructionIndex ?? -1]?.program === COMPUTE_BUDGET_PROGRAM
    );
  if (kind === "InsufficientFundsForRent") return logs.length === 0;
  return NEVER_RUNS.includes(kind);
};
