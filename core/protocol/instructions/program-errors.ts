import type { Address } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import type { TransactionError } from "../../domain/relay/relay-entry.ts";
import { ATTESTOR_ERRORS } from "../generated/attestor.ts";
import { CUSTODY_ERRORS } from "../generated/custody.ts";

/** A custom error of one of the two programs. */
export type ProgramError = {
  readonly code: number;
  readonly program: "custody" | "attestor";
  readonly name: string;
  /** One short sentence, without full stop. */
  readonly message: string;
};

/** Every custom error of both programs; an error that crosses a CPI keeps its code, so the ranges do not overlap. */
export const PROGRAM_ERRORS: ReadonlyArray<ProgramError> = [...CUSTODY_ERRORS, ...ATTESTOR_ERRORS];

const byCode = new Map(PROGRAM_ERRORS.map((error) => [error.code, error]));

/** What a custom error code of a failed transaction means, or undefined when neither program defines it. */
export const programError = (code: number): ProgramError | undefined => byCode.get(code);

/**
 * What a transaction's error means by the number that `program`, whose instruction failed, gave. Null when neither of
 * the two programs defines it, and when the instruction calls another program, whose numbers mean something else. Each
 * of the two may pass on an error of the other.
 */
export const programErrorOf = (
  error: Pick<TransactionError, "customCode"> | null,
  program: Address | null,
  { custodyProgram, attestorProgram }: Deployment,
): ProgramError | null => {
  const code = error?.customCode ?? null;
  const isOurs = program === custodyProgram || program === attestorProgram;
  return code === null || !isOurs ? null : (programError(code) ?? null);
};
