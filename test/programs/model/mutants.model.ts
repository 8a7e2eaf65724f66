import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { COMPILER, hasCompiler } from "../../../programs/compile.ts";
import { Exploration } from "./explore.ts";
import { type Binaries, committedBinaries, Machine } from "./machine.ts";
import { compileMutant, MUTANTS } from "./mutants.ts";
import { takeSteps } from "./run.ts";
import { STEPS } from "./sequences.ts";

const message = async (run: () => unknown): Promise<string> => {
  try {
    await run();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Transitions of exploration, which notices most; some need sequences of four operations. */
const TRANSITIONS = 150_000;
const SEQUENCES = 150;
/** The quick run tries every nth mutant, n being this. */
const EVERY = process.env["MUTANTS_QUICK"] === "1" ? 13 : 1;

const byExploration = (binaries: Binaries): Promise<string> =>
  message(() => new Exploration(binaries).explore(4, TRANSITIONS));

const bySequences = (binaries: Binaries): Promise<string> => {
  const machine = new Machine(binaries);
  const property = fc.property(STEPS, (steps) => takeSteps(machine, steps));
  return message(() => fc.assert(property, { numRuns: SEQUENCES, seed: 1, endOnFailure: true }));
};

describe.skipIf(!hasCompiler())(`a mutated program (needs clang ${COMPILER.version})`, () => {
  let committed: Binaries | undefined;
  beforeAll(async () => {
    committed = await committedBinaries();
  });

  test.each(MUTANTS.filter((_, at) => at % EVERY === 0).map((each) => [each.name, each] as const))(
    "is noticed: %s",
    async (_, mutant) => {
      if (committed === undefined) throw new Error("no binaries");
      const binaries = { ...committed, [mutant.program]: await compileMutant(mutant) };
      expect(Buffer.compare(binaries[mutant.program], committed[mutant.program])).not.toBe(0);
      const explored = await byExploration(binaries);
      const path = explored.slice(explored.lastIndexOf("\nafter ") + 1);
      const found = explored === "" ? await bySequences(binaries) : explored;
      process.stdout.write(
        `${mutant.name}: ${explored !== "" ? path : found === "" ? "NOT NOTICED" : "by random sequences"}\n`,
      );
      expect(found).not.toBe("");
    },
    600_000,
  );
});
