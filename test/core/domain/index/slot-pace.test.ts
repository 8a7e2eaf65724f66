import { expect, test } from "bun:test";
import {
  highestPlausibleSlot,
  nextPaceFrom,
  type SyncMark,
} from "../../../../core/domain/index/sync-report.ts";

const START_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const SLACK = 1_000_000n;
const first: SyncMark = {
  count: 0n,
  frontier: new Uint8Array(1280),
  slot: 300_000_000n,
  ledgerTime: 0n,
  atMs: START_MS,
};

/** The mark of a sync that reads a slot, null where it is refused. */
const markAfter = (mark: SyncMark | null, slot: bigint, atMs: number): SyncMark | null =>
  slot > highestPlausibleSlot(mark, atMs)
    ? null
    : { ...first, slot, atMs, paceFrom: nextPaceFrom(mark, slot, atMs) };

/** @throws Error for a slot that is refused. */
const believed = (mark: SyncMark | null): SyncMark => {
  if (mark === null) throw new Error("refused");
  return mark;
};

/** The mark after days of syncs, four a day, of a ledger at its usual pace. */
const afterDays = (days: number): SyncMark => {
  let mark = first;
  for (let quarter = 1; quarter <= days * 4; quarter++) {
    const slot = first.slot + BigInt(quarter * 6 * 3600 * 2.5);
    mark = believed(markAfter(mark, slot, START_MS + (quarter * DAY_MS) / 4));
  }
  return mark;
};

test("false slots do not add up, in one moment or over days", () => {
  const mark = believed(markAfter(first, first.slot + 900_000n, START_MS + 1000));
  expect(markAfter(mark, mark.slot + 900_000n, START_MS + 2000)).toBeNull();
  const [day, truth] = [START_MS + DAY_MS, first.slot + 216_000n];
  expect(markAfter(mark, truth + SLACK + 864_000n, day)).toBeNull();
});

test("the tolerance does not grow with the age of a store", () => {
  const [young, old] = [afterDays(1), afterDays(400)];
  for (const { slot, atMs, ...rest } of [young, old])
    expect(highestPlausibleSlot({ slot, atMs, ...rest }, atMs) - slot).toBe(SLACK);
});

test("the slack is there again once the ledger is known to have reached the false slot", () => {
  const mark = believed(markAfter(first, first.slot + 900_000n, START_MS + 1000));
  const later = START_MS + 5 * DAY_MS;
  const honest = believed(markAfter(mark, first.slot + 1_080_000n, later));
  expect(highestPlausibleSlot(honest, later) - honest.slot).toBe(SLACK);
});

test("a mark of an older store counts itself", () => {
  expect(highestPlausibleSlot(first, START_MS + 1000)).toBe(first.slot + 10n + SLACK);
});

test("a clock that was a year ahead keeps no honest slot out once it is set right", () => {
  let mark = believed(markAfter({ ...first, atMs: START_MS + 365 * DAY_MS }, first.slot, START_MS));
  for (let day = 1; day <= 30; day++)
    mark = believed(markAfter(mark, first.slot + BigInt(day) * 216_000n, START_MS + day * DAY_MS));
  expect(highestPlausibleSlot(mark, mark.atMs) - mark.slot).toBe(SLACK);
});

test("a first mark is judged from the first ledger of this kind", () => {
  const year = Date.UTC(2021, 2, 16);
  expect(markAfter(null, 100_000_000n, year)).not.toBeNull();
  expect(markAfter(null, 2n ** 40n, year)).toBeNull();
});

test("a clock that is not set yet keeps no first mark out", () => {
  expect(highestPlausibleSlot(null, 0)).toBe(SLACK);
});
