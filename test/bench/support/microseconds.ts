import { isQuick } from "./report.ts";

const ROUNDS = isQuick ? 5 : 15;

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Microseconds that each of several ways takes to handle one input: the median of rounds in which they take
 * turns, so that what else the machine does meanwhile touches all of them alike.
 */
export const microseconds = async <Input>(
  inputs: ReadonlyArray<Input>,
  ways: Readonly<Record<string, (input: Input) => unknown>>,
): Promise<Readonly<Record<string, number>>> => {
  const taken: Record<string, Array<number>> = {};
  for (let round = -2; round < ROUNDS; round++)
    for (const [name, way] of Object.entries(ways)) {
      const startMs = performance.now();
      for (const input of inputs) {
        const result = way(input);
        if (result instanceof Promise) await result;
      }
      const us = ((performance.now() - startMs) * 1000) / inputs.length;
      // The first two rounds warm up.
      if (round >= 0) (taken[name] ??= []).push(us);
    }
  return Object.fromEntries(Object.entries(taken).map(([name, values]) => [name, median(values)]));
};
