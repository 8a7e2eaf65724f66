import { expect, test } from "bun:test";
import { Effect, Layer } from "effect";
import fc from "fast-check";
import { indexMemory } from "../../../../adapters/memory/index-store.ts";
import { address } from "../../../../core/domain/address.ts";
import {
  EVENT_KINDS,
  eventsOf,
  type IndexedEvent,
} from "../../../../core/domain/index/settlement-event.ts";
import {
  DailyOutcomesCount,
  makeDailyOutcomesCount,
} from "../../../../core/use-cases/index/daily-outcomes.ts";
import {
  type EventFilter,
  type EventRange,
  IndexReader,
} from "../../../../ports/index/index-reader.ts";
import { Instance } from "../../../../ports/instance.ts";
import { escrow } from "../../../adapters/http/support/parties.ts";
import { markAt } from "../../../arbitraries/index-history.ts";
import { SUPPORTED_MINT, testInstance } from "../test-instance.ts";

const A_DAY = 86_400n;
const UNLISTED = address("So11111111111111111111111111111111111111112");
const ROW = escrow("sample");
const [SAMPLE] = eventsOf(ROW);
if (SAMPLE === undefined) throw new Error("an escrow has an event");

const happening = fc.record({
  day: fc.bigInt({ min: 20_000n, max: 20_004n }),
  kind: fc.constantFrom(...EVENT_KINDS),
  mint: fc.constantFrom(SUPPORTED_MINT, UNLISTED),
  amount: fc.bigInt({ min: 1n, max: 10_000_000n }),
});

type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

const eventAt = (position: bigint, { day, kind, mint, amount }: Happening): IndexedEvent => ({
  event: { ...SAMPLE, kind, mint, amount, occurredAt: day * A_DAY + (position % A_DAY) },
  position,
  leafHash: ROW.taskHash,
  signature: null,
  slot: null,
});

/** An index that holds what `held` holds at the time. */
const indexWith = (held: { events: ReadonlyArray<IndexedEvent>; count: bigint }) =>
  Layer.effect(
    IndexReader,
    Effect.map(IndexReader, (empty) => ({
      ...empty,
      summary: Effect.map(empty.summary, (summary) => ({
        ...summary,
        mark: markAt([], 0n, { count: held.count }),
      })),
      events: (_: EventFilter, limit: number, range: EventRange) =>
        Effect.sync(() => {
          const after = Number("after" in range ? range.after : 0n);
          return held.events.slice(after, after + limit);
        }),
    })),
  ).pipe(Layer.provide(indexMemory()));

const counting = (held: Parameters<typeof indexWith>[0]) =>
  Layer.effect(DailyOutcomesCount, makeDailyOutcomesCount).pipe(
    Layer.provide(indexWith(held)),
    Layer.provide(Layer.succeed(Instance, testInstance())),
  );

const newest = (days: number) => DailyOutcomesCount.use((counts) => counts.newest(days));

/** Asks until everything in the index is counted, and says how often that was. */
const whole = Effect.gen(function* () {
  for (let asked = 1; ; asked++) {
    const answer = yield* newest(100);
    if (answer.countedTo === answer.count) return { ...answer, asked };
  }
});

test("each event counts once on its day, and units only of listed mints, however often it is asked", () =>
  fc.assert(
    fc.asyncProperty(fc.array(happening, { maxLength: 60 }), fc.nat(60), async (all, cut) => {
      const events = all.map((one, at) => eventAt(BigInt(at + 1), one));
      const held = { events: events.slice(0, cut), count: BigInt(Math.min(cut, events.length)) };
      const { days, countedTo } = await Effect.gen(function* () {
        yield* whole;
        held.events = events;
        held.count = BigInt(events.length);
        yield* whole;
        return yield* whole;
      }).pipe(Effect.provide(counting(held)), Effect.runPromise);
      expect(countedTo).toBe(BigInt(events.length));
      const byDay = Map.groupBy(all, ({ day }) => Number(day));
      expect(days.map(({ number }) => number)).toEqual([...byDay.keys()].sort((a, b) => b - a));
      for (const day of days)
        for (const kind of EVENT_KINDS) {
          const those = (byDay.get(day.number) ?? []).filter((one) => one.kind === kind);
          expect(day.events[kind]).toBe(those.length);
          const moved = those
            .filter(({ mint }) => mint === SUPPORTED_MINT)
            .reduce((sum, { amount }) => sum + amount, 0n);
          expect(day.moved.get(SUPPORTED_MINT)?.[kind] ?? 0n).toBe(moved);
          expect(day.moved.has(UNLISTED)).toBe(false);
        }
    }),
    { numRuns: 60 },
  ));

test("a long index is counted over several answers, each of which says how far it is", async () => {
  const events = Array.from({ length: 25_000 }, (_, at) =>
    eventAt(BigInt(at + 1), {
      day: 20_000n,
      kind: "escrow_created",
      mint: SUPPORTED_MINT,
      amount: 1n,
    }),
  );
  const answers = await Effect.gen(function* () {
    return [yield* newest(7), yield* newest(7), yield* newest(7)];
  }).pipe(Effect.provide(counting({ events, count: 25_000n })), Effect.runPromise);
  expect(answers.map(({ countedTo }) => countedTo)).toEqual([10_000n, 20_000n, 25_000n]);
  expect(answers[2]?.days[0]?.events.escrow_created).toBe(25_000);
});

test("an index that was built anew with fewer events is counted from its beginning", async () => {
  const one = { day: 20_000n, mint: SUPPORTED_MINT, amount: 1n } as const;
  const held = {
    events: [
      eventAt(1n, { ...one, kind: "escrow_created" }),
      eventAt(2n, { ...one, kind: "escrow_released" }),
    ],
    count: 2n,
  };
  const days = await Effect.gen(function* () {
    yield* whole;
    held.events = held.events.slice(0, 1);
    held.count = 1n;
    return (yield* whole).days;
  }).pipe(Effect.provide(counting(held)), Effect.runPromise);
  expect(days.map(({ events }) => [events.escrow_created, events.escrow_released])).toEqual([
    [1, 0],
  ]);
});
