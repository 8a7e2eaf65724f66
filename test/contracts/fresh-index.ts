import { Effect, type Layer } from "effect";
import fc from "fast-check";
import { IndexReader } from "../../ports/index/index-reader.ts";
import { IndexWriter } from "../../ports/index/index-writer.ts";
import { LogStore } from "../../ports/log/log-store.ts";
import type { StoreUnavailable } from "../../ports/index/store-refusal.ts";
import { runs } from "../arbitraries/runs.ts";

/** The layer of one index: its reads, its writes and the log's store. */
export type IndexLayer<E = never> = Layer.Layer<IndexReader | IndexWriter | LogStore, E>;

/** The three ports of one index. */
export type Index = {
  readonly reader: IndexReader["Service"];
  readonly writer: IndexWriter["Service"];
  readonly log: LogStore["Service"];
};

/** What `program` returns of the index of a layer. */
export const withIndexOf = <A, F, E>(
  layer: IndexLayer<E>,
  program: (index: Index) => Effect.Effect<A, F>,
): Effect.Effect<A, E | F> =>
  Effect.provide(
    Effect.gen(function* () {
      return yield* program({
        reader: yield* IndexReader,
        writer: yield* IndexWriter,
        log: yield* LogStore,
      });
    }),
    layer,
  );

/** Runs each program on a new index, and a property on `numRuns` new indexes. */
export const onFreshIndexes = <E>(fresh: () => IndexLayer<E>, numRuns: number) => {
  const withIndex = <A>(program: (index: Index) => Effect.Effect<A, StoreUnavailable>) =>
    Effect.runPromise(withIndexOf(fresh(), program));
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
