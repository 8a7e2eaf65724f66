import { beforeAll, describe, expect, test } from "bun:test";
import fc from "fast-check";
import { COMPILER, hasCompiler } from "../../../programs/compile.ts";
import { Exploration } from "./explore.ts";
import { type Binaries, committedBinaries, Machine } from "./machine.ts";
import { compileMutant, MUTANTS } from "./mutants.ts";
import { takeSteps } from "./run.ts";
import { STEPS } from "./sequences.ts";

const message = (run: () => unknown): string => {
  try {
    run();
    return "";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** How far a mutant is explored: the shortest sequences that show some of them are of four operations. */
const DEPTH = 4;
const SEQUENCES = 60;

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
      const explored = message(() => new Exploration(binaries).explore(DEPTH));
      const machine = new Machine(binaries);
      const taken = message(() =>
        fc.assert(
          fc.property(STEPS, (steps) => void takeSteps(machine, steps)),
          { numRuns: SEQUENCES, seed: 1, endOnFailure: true },
        ),
      );
      process.stdout.write(
        `${mutant.name}\n  exploration: ${explored === "" ? "not seen" : explored.replaceAll("\n", " ").slice(0, 300)}\n  sequences: ${taken === "" ? "not seen" : "seen"}\n`,
      );
      expect(explored !== "" || taken !== "").toBe(true);
    },
    600_000,
  );
});
