import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import { LogStream, type StreamedEntry } from "../../ports/log/log-stream.ts";

/** Entries that nothing else has, the first of them with the index `from`. */
const entriesFrom = (from: number, count: number, mark = 0): ReadonlyArray<StreamedEntry> =>
  Array.from({ length: count }, (_, at) => ({
    kind: at % 2 === 0 ? "escrow_created" : "escrow_released",
    leaf: Uint8Array.of(from + at, mark, 0, 255),
  }));

let logs = 0;
const newOrigin = (): string => `log.example/log/0123456789abcdef/${++logs}`;

/** What every stream must do. `layer` connects to the same server each time. */
export const logStreamContract = (name: string, layer: () => Layer.Layer<LogStream>) => {
  const using = <A, E>(work: (stream: LogStream["Service"]) => Effect.Effect<A, E>): Promise<A> =>
    Effect.runPromise(Effect.provide(Effect.flatMap(LogStream, work), layer()));

  describe(name, () => {
    test("what was appended is there for another process, log by log", async () => {
      const [one, two] = [newOrigin(), newOrigin()];
      expect(await using(({ end }) => end(one))).toEqual({ size: 0, last: null });
      expect(await using(({ end }) => end(two))).toEqual({ size: 0, last: null });
      expect(await using(({ append }) => append(one, 0, entriesFrom(0, 1)))).toBe(true);
      expect(await using(({ append }) => append(one, 1, entriesFrom(1, 6)))).toBe(true);
      const { size, last } = await using(({ end }) => end(one));
      expect(size).toBe(7);
      expect([...(last ?? [])]).toEqual([6, 0, 0, 255]);
      expect(await using(({ end }) => end(two))).toEqual({ size: 0, last: null });
    });

    test("nothing is appended where the stream does not end", async () => {
      const origin = newOrigin();
      await using(({ end }) => end(origin));
      expect(await using(({ append }) => append(origin, 1, entriesFrom(1, 2)))).toBe(false);
      expect(await using(({ append }) => append(origin, 0, entriesFrom(0, 3)))).toBe(true);
      expect(await using(({ append }) => append(origin, 4, entriesFrom(4, 2)))).toBe(false);
      expect(await using(({ end }) => end(origin))).toMatchObject({ size: 3 });
    });

    test("of processes that append at once each place is taken once", async () => {
      const origin = newOrigin();
      await using(({ end }) => end(origin));
      const fill = (mark: number) =>
        using((stream) =>
          Effect.gen(function* () {
            let from = 0;
            while (from < 60) {
              const count = Math.min(7, 60 - from);
              const isThere = yield* stream.append(origin, from, entriesFrom(from, count, mark));
              from = isThere ? from + count : (yield* stream.end(origin)).size;
            }
          }),
        );
      await Promise.all([fill(1), fill(1), fill(1)]);
      expect(await using(({ end }) => end(origin))).toMatchObject({ size: 60 });
    });
  });
};
