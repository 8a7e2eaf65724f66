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

/** The depth of exploration. Some mutants need sequences of four operations. */
const DEPTH = 4;
const SEQUENCES = 100;
/** Random sequences take longer, and exploration alone detects every mutant. */
const ONLY_EXPLORE = process.env["MUTANTS_QUICK"] === "1";

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

  test.each(MUTANTS.map((each) => [each.name, each] as const))(
    "is caught: %s",
    async (_, mutant) => {
      if (committed === undefined) throw new Error("no binaries");
      const binaries = { ...committed, [mutant.program]: await compileMutant(mutant) };
      const explored = await message(() => new Exploration(binaries).explore(DEPTH));
      const seen = ONLY_EXPLORE ? "not tried" : (await bySequences(binaries)) === "" ? "not seen" : "seen";
      const path = explored.slice(explored.lastIndexOf("\nafter ") + 1);
      process.stdout.write(`${mutant.name}: ${path}; by random sequences: ${seen}\n`);
      expect(explored).not.toBe("");
    },
    600_000,
  );
});
