import { expect, test } from "bun:test";
import { Effect, Exit, Fiber, Layer } from "effect";
import { TestClock } from "effect/testing";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { indexNewsMemory } from "../../../../adapters/memory/index-news.ts";
import { IndexGrowth, makeIndexGrowth } from "../../../../core/use-cases/index/follow-events.ts";
import { IndexNews } from "../../../../ports/index/index-news.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import { StoreUnavailable } from "../../../../ports/index/store-refusal.ts";
import { markAt } from "../../../arbitraries/index-history.ts";
import { noNews } from "../../../doubles/nothing-kept.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

/** A store whose count a test sets, and how often it was looked at. */
const storeAt = (count: bigint) => ({ count, looks: 0, isAway: false });
type Store = ReturnType<typeof storeAt>;

const readerOf = (store: Store) =>
  Layer.effect(
    IndexReader,
    Effect.map(IndexReader, (index) => ({
      ...index,
      summary: Effect.suspend(() => {
        store.looks += 1;
        return store.isAway
          ? Effect.fail(new StoreUnavailable({ retryable: true, cause: "away" }))
          : Effect.map(index.summary, (summary) => ({
              ...summary,
              mark: { ...markAt([], 0n), count: store.count },
            }));
      }),
    })),
  ).pipe(Layer.provide(indexMemory()));

const run = <A>(
  store: Store,
  work: (growth: IndexGrowth["Service"]) => Effect.Effect<A, StoreUnavailable, IndexNews>,
  news: Layer.Layer<IndexNews> = noNews,
) =>
  Effect.runPromise(
    Effect.flatMap(IndexGrowth, work).pipe(
      Effect.provide(
        Layer.effect(IndexGrowth, makeIndexGrowth).pipe(
          Layer.provide(readerOf(store)),
          Layer.provideMerge(Layer.mergeAll(news, patientClock())),
        ),
      ),
    ),
  );

/** As many readers that wait for more than a count. */
const waiting = (growth: IndexGrowth["Service"], readers: number, count: bigint) =>
  Effect.forEach(Array.from({ length: readers }), () =>
    Effect.forkChild(growth.beyond(count), { startImmediately: true }),
  );
const awake = (fibers: ReadonlyArray<Fiber.Fiber<void, StoreUnavailable>>) =>
  fibers.filter((fiber) => fiber.pollUnsafe() !== undefined).length;

test("one look serves all readers, and nobody looks while nobody reads", async () => {
  const store = storeAt(5n);
  await run(store, (growth) =>
    Effect.gen(function* () {
      yield* TestClock.adjust("10 seconds");
      expect(store.looks).toBe(0);
      const readers = yield* waiting(growth, 200, 5n);
      yield* TestClock.adjust("1 second");
      expect(awake(readers)).toBe(0);
      // The look of the first reader, one for those that joined since, and one every 20 ms.
      expect(store.looks).toBeLessThanOrEqual(52);
      store.count = 6n;
      yield* TestClock.adjust("20 millis");
      expect(awake(readers)).toBe(200);
      yield* TestClock.adjust("1 second");
      const { looks } = store;
      yield* TestClock.adjust("10 seconds");
      expect(store.looks).toBe(looks);
    }),
  );
});

test("a reader wakes once its own count is passed, and at once when it is already", async () => {
  const store = storeAt(5n);
  await run(store, (growth) =>
    Effect.gen(function* () {
      const [behind, ahead] = [yield* waiting(growth, 3, 4n), yield* waiting(growth, 3, 9n)];
      yield* TestClock.adjust("10 millis");
      expect([awake(behind), awake(ahead)]).toEqual([3, 0]);
      store.count = 9n;
      yield* TestClock.adjust("1 second");
      expect(awake(ahead)).toBe(0);
      store.count = 10n;
      yield* TestClock.adjust("20 millis");
      expect(awake(ahead)).toBe(3);
    }),
  );
});

test("a hint wakes readers before they would look by themselves, and a lost hint costs a quarter of a second", async () => {
  const store = storeAt(5n);
  await run(
    store,
    (growth) =>
      Effect.gen(function* () {
        const { tell } = yield* IndexNews;
        const told = yield* waiting(growth, 3, 5n);
        yield* TestClock.adjust("100 millis");
        const { looks } = store;
        store.count = 6n;
        yield* tell;
        yield* TestClock.adjust("10 millis");
        expect(awake(told)).toBe(3);
        expect(store.looks).toBe(looks + 1);
        const alone = yield* waiting(growth, 3, 6n);
        yield* TestClock.adjust("100 millis");
        store.count = 7n;
        yield* TestClock.adjust("240 millis");
        expect(awake(alone)).toBe(3);
      }),
    indexNewsMemory,
  );
});

test("a flood of hints makes no flood of looks, and many readers are woken at a bounded rate", async () => {
  const store = storeAt(5n);
  await run(
    store,
    (growth) =>
      Effect.gen(function* () {
        const { tell } = yield* IndexNews;
        yield* waiting(growth, 1, 1000n);
        for (let n = 0; n < 1000; n++) {
          yield* tell;
          yield* TestClock.adjust("1 millis");
        }
        expect(store.looks).toBeLessThanOrEqual(102);
        const { looks } = store;
        for (let n = 0; n < 10; n++) {
          store.count += 1n;
          yield* waiting(growth, 512, store.count - 1n);
          yield* tell;
          yield* TestClock.adjust("100 millis");
        }
        // Each of these looks wakes 512 readers, whose reads take a quarter of a second's share.
        expect(store.looks - looks).toBeLessThanOrEqual(6);
      }),
    indexNewsMemory,
  );
});

test("readers fail with the store, and a reader that leaves is forgotten", async () => {
  const store = storeAt(5n);
  await run(store, (growth) =>
    Effect.gen(function* () {
      const [leaving, staying] = [yield* waiting(growth, 2, 5n), yield* waiting(growth, 2, 5n)];
      yield* Effect.forEach(leaving, Fiber.interrupt);
      store.isAway = true;
      yield* TestClock.adjust("1 second");
      for (const fiber of staying) expect(Exit.isFailure(yield* Fiber.await(fiber))).toBe(true);
      const { looks } = store;
      yield* TestClock.adjust("10 seconds");
      expect(store.looks).toBe(looks);
      store.isAway = false;
      store.count = 6n;
      expect(awake(yield* waiting(growth, 1, 5n))).toBe(0);
      yield* TestClock.adjust("10 millis");
    }),
  );
});
