import { type Static, Type } from "@sinclair/typebox";
import type { TransactionRejected } from "../../../core/use-cases/relay/relay-errors.ts";
import { programError } from "../../../core/protocol/instructions/program-errors.ts";
import type { TransactionError as DomainTransactionError } from "../../../core/domain/relay/transaction-outcome.ts";
import { nullable, oneOf, record } from "../openapi/values.ts";

/** Why a transaction fails on the ledger. */
export const TransactionError = record(
  "TransactionError",
  "Why a transaction fails on the ledger.",
  {
    kind: Type.String({ description: "The runtime's name of the error." }),
    instruction_index: nullable(Type.Integer({ minimum: 0 })),
    instruction_error: nullable(Type.String()),
    custom_code: nullable(
      Type.Integer({ minimum: 0, description: "The program's own error number." }),
    ),
  },
);

/** An error that one of the two programs defines. */
export const ProgramError = record("ProgramError", "What a program's own error number means.", {
  code: Type.Integer({ minimum: 6000, maximum: 6199 }),
  program: oneOf(["custody", "attestor"], "Whose error it is."),
  name: Type.String(),
  message: Type.String(),
});

/** A ledger transaction's error, as problems and relay answers show it. */
export const transactionErrorRecord = (
  error: DomainTransactionError,
): Static<typeof TransactionError> => ({
  kind: error.kind,
  instruction_index: error.instructionIndex,
  instruction_error: error.instructionError,
  custom_code: error.customCode,
});

/** What a program's own error number means, null when neither program defines it. */
export const programErrorRecord = (
  error: DomainTransactionError | null,
): Static<typeof ProgramError> | null => {
  const code = error?.customCode ?? null;
  const known = code === null ? undefined : programError(code);
  return known === undefined
    ? null
    : { code: known.code, program: known.program, name: known.name, message: known.message };
};

const sentence = (error: DomainTransactionError | null): string => {
  if (error === null) return "The ledger node refused the transaction.";
  if (error.instructionIndex === null) return `The transaction fails with ${error.kind}.`;
  const known = programErrorRecord(error);
  if (known !== null)
    return `Instruction ${error.instructionIndex} fails with ${known.name}: ${known.message}.`;
  const code = error.customCode === null ? "" : ` ${error.customCode}`;
  return `Instruction ${error.instructionIndex} fails with ${error.instructionError ?? error.kind}${code}.`;
};

/** The problem members for a transaction that the ledger refuses. */
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
