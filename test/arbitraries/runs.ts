import { relative } from "node:path";
import { defaultReportMessage, type Parameters } from "fast-check";

const fromEnvironment = (name: string): number | undefined => {
  const text = process.env[name];
  if (text === undefined || text === "") return undefined;
  if (!/^-?[0-9]+$/.test(text)) throw new Error(`${name} must be a whole number`);
  return Number(text);
};

/** The seed that FC_SEED gives, if any. */
export const givenSeed = (): number | undefined => fromEnvironment("FC_SEED");

/** The path of the test file that calls this, from the root; empty for a contract suite or a helper. */
const askingFile = (): string => {
  const file = /\/[^\s():]+\.(?:test|chaos|postgres|proxy|alerts)\.ts(?=:)/.exec(
    new Error().stack ?? "",
  )?.[0];
  return file === undefined ? "" : relative(`${import.meta.dir}/../..`, file);
};

/**
 * The number of runs of a property: `count`, or FC_NUM_RUNS when that is set. A failure prints the command that replays
 * it, its counterexample and its cause.
 */
export const runs = <T>(count: number): Parameters<T> => {
  const seed = givenSeed();
  const numRuns = fromEnvironment("FC_NUM_RUNS") ?? count;
  const file = askingFile();
  return {
    numRuns,
    includeErrorInReport: true,
    ...(seed === undefined ? {} : { seed }),
    reporter: (details) => {
      if (!details.failed) return;
      const more = numRuns === count ? "" : `FC_NUM_RUNS=${numRuns} `;
      const again = `${more}FC_SEED=${details.seed} bun test ${file}`.trim();
      throw new Error(`${defaultReportMessage(details)}\n\nThe same again: ${again}\n`, {
        cause: details.errorInstance,
      });
    },
  };
};
