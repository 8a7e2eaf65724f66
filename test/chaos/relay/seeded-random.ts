/** Random numbers that depend on the seed alone (mulberry32). */
export const seededRandom = (seed: number) => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    /** True with this probability. */
    chance: (probability: number): boolean => next() < probability,
    /** A whole number in [from, to]. */
    between: (from: number, to: number): number => from + Math.floor(next() * (to - from + 1)),
  };
};

export type SeededRandom = ReturnType<typeof seededRandom>;
