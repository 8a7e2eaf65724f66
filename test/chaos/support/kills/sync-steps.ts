import { writeSync } from "node:fs";
import { Effect } from "effect";
import type { EscrowIndex } from "../../../../ports/escrow-index.ts";

/** The steps of a process that syncs, one line each. It writes to its store between `batch` and `applied`. */
export const STEPS = ["open", "batch", "applied", "end"] as const;
export type Step = (typeof STEPS)[number];

/** Prints a step unbuffered: a buffered line would be lost when the process is killed. */
export const tellStep = (step: Step): void => void writeSync(1, `${step}\n`);

/** An index that prints where each batch begins and ends. */
export const tellBatches = (index: EscrowIndex["Service"]): EscrowIndex["Service"] => ({
  ...index,
  apply: (batch) =>
    Effect.sync(() => tellStep("batch")).pipe(
      Effect.andThen(index.apply(batch)),
      Effect.tap(() => Effect.sync(() => tellStep("applied"))),
    ),
});
