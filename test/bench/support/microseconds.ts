import { isQuick } from "./report.ts";

const ROUNDS = isQuick ? 5 : 15;

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/**
 * Microseconds that each way takes for one input: the median of rounds in which the ways take turns, so that other load
 * on the machine affects all of them.
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
