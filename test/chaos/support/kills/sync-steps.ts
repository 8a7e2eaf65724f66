import { writeSync } from "node:fs";
import { Effect } from "effect";
import type { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import type { IndexWriter } from "../../../../ports/index/index-writer.ts";

/** The steps of a process that syncs, one line each. It writes to its store between `batch` and `applied`. */
export const STEPS = ["open", "batch", "applied", "end"] as const;
export type Step = (typeof STEPS)[number];

/** Prints a step unbuffered: a buffered line would be lost when the process is killed. */
export const tellStep = (step: Step): void => void writeSync(1, `${step}\n`);

const told = (write: Effect.Effect<void, StoreUnavailable>) =>
  Effect.sync(() => tellStep("batch")).pipe(
    Effect.andThen(write),
    Effect.tap(() => Effect.sync(() => tellStep("applied"))),
  );

/** An index that prints where each write begins and ends, those of a build as well. */
export const tellBatches = (index: IndexWriter["Service"]): IndexWriter["Service"] => ({
  ...index,
  apply: (changes) => told(index.apply(changes)),
  build: Effect.map(index.build, (build) => ({
    ...build,
    add: (rows) => told(build.add(rows)),
    finish: (mark) => told(build.finish(mark)),
  })),
});
