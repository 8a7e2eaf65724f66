import fc from "fast-check";

/** Steps of a sequence on average. */
export const AVERAGE_LENGTH = 60;
const LENGTH = { maxLength: 2 * AVERAGE_LENGTH, size: "max" } as const;
/** As many numbers as the longest choice of a step takes. */
const NUMBERS = { minLength: 24, maxLength: 24 };

/** Lists of numbers that choose the steps of a sequence. */
export const STEPS = fc.noBias(fc.array(fc.array(fc.nat(2 ** 16 - 1), NUMBERS), LENGTH));
