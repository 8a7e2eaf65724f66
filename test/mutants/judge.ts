import { type Ending, runTests, type Surroundings } from "./run-tests.ts";
import type { TreeCopy } from "./tree-copy.ts";
import { type Mutant, mutated } from "./mutants-of.ts";

/** What became of a mutant. `unjudged` is one whose tests do not end without it either. */
export type Verdict =
  | { readonly kind: "killed"; readonly by: string }
  | { readonly kind: "timed-out" }
  | { readonly kind: "survived"; readonly tests: number }
  | { readonly kind: "unjudged"; readonly why: string };

/** Tests of the first run: most mutants fall to the nearest. */
const NEAREST = 3;
const NEAREST_TIMEOUT_MS = 180_000;
const FURTHER_TIMEOUT_MS = 420_000;

/**
 * Judges mutants in one copy of the tree, one at a time. A test that fails without the mutant as well counts for
 * nothing, and is left out from then on.
 */
export const judge = (copy: TreeCopy, surroundings: Surroundings) => {
  const healthy = new Map<string, boolean>();
  const run = (files: ReadonlyArray<string>, timeoutMs: number): Promise<Ending> =>
    files.length === 0
      ? Promise.resolve({ kind: "passed" })
      : runTests(copy.folder, files, timeoutMs, surroundings);

  const isHealthy = async (file: string): Promise<boolean> => {
    const known = healthy.get(file);
    if (known !== undefined) return known;
    const { kind } = await run([file], FURTHER_TIMEOUT_MS);
    healthy.set(file, kind === "passed");
    return kind === "passed";
  };

  return async (mutant: Mutant, text: string, tests: ReadonlyArray<string>): Promise<Verdict> => {
    const changed = mutated(text, mutant);
    const restored = async <A>(work: () => Promise<A>): Promise<A> => {
      await copy.write(mutant.file, text);
      return work();
    };
    let left = tests.filter((file) => healthy.get(file) !== false);
    const count = left.length;
    for (const [size, timeoutMs] of [
      [NEAREST, NEAREST_TIMEOUT_MS],
      [tests.length, FURTHER_TIMEOUT_MS],
    ] as const)
      for (;;) {
        const files = left.slice(0, size);
        await copy.write(mutant.file, changed);
        const ending = await run(files, timeoutMs);
        if (ending.kind === "passed") {
          left = left.slice(size);
          break;
        }
        const suspects =
          ending.kind === "failed" && ending.file !== undefined ? [ending.file] : files;
        const sick = await restored(async () => {
          const found: Array<string> = [];
          for (const file of suspects) if (!(await isHealthy(file))) found.push(file);
          return found;
        });
        if (sick.length === 0) {
          if (ending.kind === "timed-out") return { kind: "timed-out" };
          return { kind: "killed", by: suspects.join(", ") };
        }
        left = left.filter((file) => !sick.includes(file));
      }
    await copy.write(mutant.file, text);
    return count === 0
      ? { kind: "unjudged", why: "no test imports the file" }
      : { kind: "survived", tests: count };
  };
};
