/** Numbers in [0, 1) that depend on the seed alone (mulberry32). */
export const seededRandom = (seed: number): (() => number) => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
};

/**
 * The seed of a run, a whole number that a seed of many may follow: the one that is given, else FC_SEED, by which `.ci/run`
 * draws for all of its tests, else another each time. NaN for a text that is no number.
 */
export const runSeed = (given = process.env["FC_SEED"]): number =>
  given === undefined || given === "" ? Math.floor(Math.random() * 2 ** 28) : Number(given);
