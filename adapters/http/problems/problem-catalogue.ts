import { RELAY_PROBLEMS } from "./relay-problems.ts";
import { REQUEST_PROBLEMS } from "./request-problems.ts";
import { SERVICE_PROBLEMS } from "./service-problems.ts";
import { WITNESS_PROBLEMS } from "./witness-problems.ts";

/**
 * Every problem this service answers with, by its stable code. Codes are append-only: a published one
 * keeps its meaning and its status.
 */
export const PROBLEM_CATALOGUE = {
  ...REQUEST_PROBLEMS,
  ...RELAY_PROBLEMS,
  ...WITNESS_PROBLEMS,
  ...SERVICE_PROBLEMS,
} as const;

/** The stable name of a problem. */
export type ProblemCode = keyof typeof PROBLEM_CATALOGUE;

/** Every code, in the order of the catalogue. */
export const PROBLEM_CODES = Object.keys(PROBLEM_CATALOGUE) as ReadonlyArray<ProblemCode>;

/** Whether a text is the code of a problem. */
export const isProblemCode = (text: string): text is ProblemCode =>
  Object.hasOwn(PROBLEM_CATALOGUE, text);
