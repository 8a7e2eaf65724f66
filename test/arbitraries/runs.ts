import type { Parameters } from "fast-check";

const fromEnvironment = (name: string): number | undefined => {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  if (!/^-?[0-9]+$/.test(text)) throw new Error(`${name} must be a whole number`);
  return Number(text);
};

/**
 * How often a property is tried: `count` times, or FC_NUM_RUNS times when that is set. A failure prints
 * its seed, which FC_SEED replays, its counterexample and what was thrown.
 */
export const runs = <T>(count: number): Parameters<T> => {
  const seed = fromEnvironment("FC_SEED");
  const numRuns = fromEnvironment("FC_NUM_RUNS") ?? count;
  return { numRuns, includeErrorInReport: true, ...(seed === undefined ? {} : { seed }) };
};
