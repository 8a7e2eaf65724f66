import { writeSync } from "node:fs";
import { Effect } from "effect";
import type { EscrowIndex } from "../../../../ports/escrow-index.ts";

/** How far a process that syncs has come, a line each: between `batch` and `applied` it writes to its store. */
export const STEPS = ["open", "batch", "applied", "end"] as const;
export type Step = (typeof STEPS)[number];

/** Says at once that a step is reached: a line that waits in a buffer dies with its process. */
export const tellStep = (step: Step): void => void writeSync(1, `${step}\n`);

/** An index that tells where each batch begins and ends. */
export const tellBatches = (index: EscrowIndex["Service"]): EscrowIndex["Service"] => ({
  ...index,
  apply: (batch) =>
    Effect.sync(() => tellStep("batch")).pipe(
      Effect.andThen(index.apply(batch)),
      Effect.tap(() => Effect.sync(() => tellStep("applied"))),
    ),
});
