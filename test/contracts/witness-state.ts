import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import { addressFromBytes } from "../../core/domain/address.ts";
import { TreeEdge } from "../../core/log/tree/tree-edge.ts";
import { type CosignedLog, MAX_REFUSED, WitnessState } from "../../ports/log/witness-state.ts";

const ORIGIN = "log.example/log/0123456789abcdef/0";
const OWNER = addressFromBytes(new Uint8Array(32).fill(5));
const DATA = new Uint8Array(1400).map((_, at) => at);

/** A witness's state of a log with `size` leaves. */
export const cosignedOf = (size: number): CosignedLog => {
  const edge = new TreeEdge();
  for (let leaf = 0; leaf < size; leaf++) edge.append(new Uint8Array(32).fill(leaf));
  return { size, root: edge.root() };
};

/** What every state must do. `fresh` gives the layer of a new, empty state each time. */
export const witnessStateContract = <E>(
  name: string,
  fresh: () => Layer.Layer<WitnessState, E>,
): void => {
  const withState = <A, F>(
    use: (state: WitnessState["Service"]) => Effect.Effect<A, F>,
  ): Promise<A> => Effect.runPromise(Effect.provide(WitnessState.use(use), fresh()));

  describe(name, () => {
    test("what was set is read, for each log its own", () =>
      withState((state) =>
        Effect.gen(function* () {
          expect(yield* state.read(ORIGIN)).toBeNull();
          for (const [from, to] of [
            [0, 1],
            [1, 2],
            [2, 255],
            [255, 255],
            [255, 1023],
          ] as const) {
            expect(yield* state.compareAndSet(ORIGIN, from, cosignedOf(to))).toBe(true);
            expect(yield* state.read(ORIGIN)).toEqual(cosignedOf(to));
          }
          expect(yield* state.read(`${ORIGIN}1`)).toBeNull();
        }),
      ));

    test("the last checkpoint of a log is kept as such, also in place of one of its size", () =>
      withState((state) =>
        Effect.gen(function* () {
          yield* state.compareAndSet(ORIGIN, 0, cosignedOf(5));
          const last = { ...cosignedOf(5), isLast: true } as const;
          expect(yield* state.compareAndSet(ORIGIN, 5, last)).toBe(true);
          expect(yield* state.read(ORIGIN)).toEqual(last);
        }),
      ));

    test("a set that expects another size changes nothing", () =>
      withState((state) =>
        Effect.gen(function* () {
          expect(yield* state.compareAndSet(ORIGIN, 1, cosignedOf(2))).toBe(false);
          expect(yield* state.read(ORIGIN)).toBeNull();
          yield* state.compareAndSet(ORIGIN, 0, cosignedOf(5));
          for (const expected of [0, 4, 6])
            expect(yield* state.compareAndSet(ORIGIN, expected, cosignedOf(9))).toBe(false);
          expect(yield* state.read(ORIGIN)).toEqual(cosignedOf(5));
        }),
      ));

    test("of concurrent sets that expect the same size one wins", () =>
      withState((state) =>
        Effect.gen(function* () {
          const sizes = [3, 4, 5, 6, 7];
          const won = yield* Effect.forEach(
            sizes,
            (size) => state.compareAndSet(ORIGIN, 0, cosignedOf(size)),
            { concurrency: "unbounded" },
          );
          expect(won.filter(Boolean)).toHaveLength(1);
          const kept = yield* state.read(ORIGIN);
          expect(kept?.size).toBe(sizes[won.indexOf(true)] ?? 0);
        }),
      ));

    test("refused checkpoints are kept verbatim, each once: the first and the newest", () =>
      withState((state) =>
        Effect.gen(function* () {
          const refusedAt = (n: number) => ({
            reason: "another root",
            checkpoint: `${ORIGIN}\n${n}\n\n— a b\n`,
            ...(n % 2 === 0 ? {} : { config: { slot: BigInt(n), owner: OWNER, data: DATA } }),
          });
          expect(yield* state.refused(ORIGIN)).toEqual([]);
          yield* state.keepRefused(ORIGIN, refusedAt(0));
          yield* state.keepRefused(ORIGIN, refusedAt(0));
          expect(yield* state.refused(ORIGIN)).toEqual([refusedAt(0)]);
          expect(yield* state.refused(`${ORIGIN}1`)).toEqual([]);
          for (let n = 1; n < MAX_REFUSED + 3; n++) yield* state.keepRefused(ORIGIN, refusedAt(n));
          const kept = yield* state.refused(ORIGIN);
          const newest = Array.from({ length: MAX_REFUSED - 1 }, (_, at) => refusedAt(at + 4));
          expect(kept).toEqual([refusedAt(0), ...newest]);
          expect(yield* state.read(ORIGIN)).toBeNull();
        }),
      ));
  });
};
