import { expect, test } from "bun:test";
import { SignalDistance } from "../../../../core/use-cases/index/sync/signal-distance.ts";

/** The wait at the end of each of `syncs` syncs that signals caused and that found nothing. */
const waitsOf = (distance: SignalDistance, syncs: number, nowMs = 0): ReadonlyArray<number> =>
  Array.from({ length: syncs }, () => {
    distance.ended(nowMs, false);
    return distance.waitMs(nowMs);
  });

test("the first signal waits 20 ms", () => {
  expect(new SignalDistance().waitMs(0)).toBe(20);
});

test("the distance doubles from 0.4 s to 10 s while syncs find nothing", () => {
  expect(waitsOf(new SignalDistance(), 7)).toEqual([400, 800, 1600, 3200, 6400, 10_000, 10_000]);
});

test("a sync that finds something puts the distance back to 20 ms, and the next doubling begins at 0.4 s", () => {
  const distance = new SignalDistance();
  waitsOf(distance, 4);
  distance.ended(0, true);
  expect(distance.waitMs(0)).toBe(20);
  expect(waitsOf(distance, 2)).toEqual([400, 800]);
});

test("time that has passed since the last sync counts, and never makes a wait shorter than 20 ms", () => {
  const distance = new SignalDistance();
  waitsOf(distance, 2, 1000);
  expect(distance.waitMs(1500)).toBe(300);
  expect(distance.waitMs(1779)).toBe(21);
  expect(distance.waitMs(1781)).toBe(20);
  expect(distance.waitMs(100_000)).toBe(20);
});
