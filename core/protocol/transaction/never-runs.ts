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

/** Most top-level instructions (Agave `transaction-context`: MAX_INSTRUCTION_TRACE_LENGTH; SIMD-0160). */
const MAX_INSTRUCTIONS = 64;
/** Most accounts of one instruction (Agave `transaction-context`: MAX_ACCOUNTS_PER_INSTRUCTION; SIMD-0406). */
const MAX_INSTRUCTION_ACCOUNTS = 255;
/** Most accounts of a transaction (Agave `sanitized.rs`: MAX_TX_ACCOUNT_LOCKS); a cluster may allow 64 only. */
const MAX_ACCOUNTS = 128;

/**
 * The limit of every ledger that a well-formed transaction exceeds, undefined when none. The text completes
 * "The transaction ...".
 */
export const transactionLimitFault = ({
  instructions,
  staticAccounts,
  tables,
}: WireTransaction): string | undefined => {
  if (instructions.length > MAX_INSTRUCTIONS)
    return `has ${instructions.length} instructions; at most ${MAX_INSTRUCTIONS} can run`;
  if (instructions.some(({ accounts }) => accounts.length > MAX_INSTRUCTION_ACCOUNTS))
    return `has an instruction of more than ${MAX_INSTRUCTION_ACCOUNTS} accounts`;
  const accounts = tables.reduce(
    (sum, { writable, readonly }) => sum + writable.length + readonly.length,
    staticAccounts.length,
  );
  return accounts > MAX_ACCOUNTS
    ? `names ${accounts} accounts; at most ${MAX_ACCOUNTS} can be locked`
    : undefined;
};
