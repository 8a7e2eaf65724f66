import fc from "fast-check";

/** Steps of a sequence on average. */
export const AVERAGE_LENGTH = 60;
const LENGTH = { maxLength: 2 * AVERAGE_LENGTH, size: "max" } as const;
/** Numbers per step: the most that choosing one step consumes. */
const NUMBERS = { minLength: 40, maxLength: 40 };

/** Lists of numbers that choose the steps of a sequence. */
export const STEPS = fc.noBias(fc.array(fc.array(fc.nat(2 ** 16 - 1), NUMBERS), LENGTH));
