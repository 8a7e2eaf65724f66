import fc from "fast-check";

/** Steps of a sequence: 60 on average. */
const LENGTH = { minLength: 40, maxLength: 80, size: "max" } as const;
/** As many numbers as the longest choice of a step takes. */
const NUMBERS = { minLength: 24, maxLength: 24 };

/** Lists of numbers that choose the steps of a sequence. */
export const STEPS = fc.noBias(fc.array(fc.array(fc.nat(2 ** 16 - 1), NUMBERS), LENGTH));
