import type { WrongState } from "../../../core/use-cases/request-errors.ts";
import { capitalised } from "../problems/capitalised.ts";
import { stateCure } from "../problems/state-cure.ts";

/** A rule that does not hold, in one line: what is wrong and what to do. */
export const refusalMessage = ({ rule, detail }: Pick<WrongState, "rule" | "detail">): string =>
  `${capitalised(detail)}. ${stateCure(rule)}`;
