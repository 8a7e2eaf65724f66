import { Effect, type Layer } from "effect";
import fc from "fast-check";
import { EscrowIndex, type StoreUnavailable } from "../../ports/escrow-index.ts";
import { runs } from "../arbitraries/runs.ts";

type Index = EscrowIndex["Service"];

/** Runs each program on a new index, and a property on `numRuns` new indexes. */
export const onFreshIndexes = <E>(fresh: () => Layer.Layer<EscrowIndex, E>, numRuns: number) => {
  const withIndex = <A>(program: (index: Index) => Effect.Effect<A, StoreUnavailable>) =>
    Effect.runPromise(Effect.provide(EscrowIndex.use(program), fresh()));
  const holds = <T>(
    values: fc.Arbitrary<T>,
    program: (index: Index, value: T) => Effect.Effect<void, StoreUnavailable>,
  ) =>
    fc.assert(
      fc.asyncProperty(values, (value) => withIndex((index) => program(index, value))),
      runs(numRuns),
    );
  return { withIndex, holds };
};
