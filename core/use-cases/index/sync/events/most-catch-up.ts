import { Context } from "effect";

/** The most events that an index catches up with, 200,000. One that more have passed by is built anew: a scan can keep no more of their rows in memory. */
export const MostCatchUp = Context.Reference<bigint>(
  "settlement-evidence/core/use-cases/MostCatchUp",
  { defaultValue: () => 200_000n },
);
