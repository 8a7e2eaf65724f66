import type { TransactionRejected } from "../../../core/use-cases/relay/relay-errors.ts";
import { programError } from "../../../core/protocol/instructions/program-errors.ts";
import type { TransactionError } from "../../../core/domain/relay/transaction-outcome.ts";

/** A ledger transaction's error, as problems and relay answers show it. */
export const transactionErrorRecord = (error: TransactionError) => ({
  kind: error.kind,
  instruction_index: error.instructionIndex,
  instruction_error: error.instructionError,
  custom_code: error.customCode,
});

/** What a program's own error number means, null where neither program defines it. */
export const programErrorRecord = (error: TransactionError | null) => {
  const code = error?.customCode ?? null;
  const known = code === null ? undefined : programError(code);
  return known === undefined
    ? null
    : { code: known.code, program: known.program, name: known.name, message: known.message };
};

const sentence = (error: TransactionError | null): string => {
  if (error === null) return "The ledger node refused the transaction.";
  if (error.instructionIndex === null) return `The transaction fails with ${error.kind}.`;
  const known = programErrorRecord(error);
  if (known !== null)
    return `Instruction ${error.instructionIndex} fails with ${known.name}: ${known.message}.`;
  const code = error.customCode === null ? "" : ` ${error.customCode}`;
  return `Instruction ${error.instructionIndex} fails with ${error.instructionError ?? error.kind}${code}.`;
};

/** What a problem tells of a transaction that the ledger refuses. */
export const rejectionRecord = (rejected: TransactionRejected) => ({
  detail: sentence(rejected.error),
  extensions: {
    signature: rejected.signature,
    error: rejected.error === null ? null : transactionErrorRecord(rejected.error),
    program_error: programErrorRecord(rejected.error),
    program: rejected.program,
    logs: rejected.logs,
    ...(rejected.landed === null
      ? {}
      : {
          slot: Number(rejected.landed.slot),
          commitment: rejected.landed.commitment,
          safe_to_sign_again: rejected.landed.commitment === "finalized",
        }),
  },
});
