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
