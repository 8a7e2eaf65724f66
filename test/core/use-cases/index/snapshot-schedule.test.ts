import { expect, test } from "bun:test";
import { SnapshotSchedule } from "../../../../core/use-cases/index/sync/snapshot-schedule.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

test("a snapshot is due an hour after the first call, and an hour after the last snapshot", () => {
  const schedule = new SnapshotSchedule(HOUR);
  expect([5, HOUR, HOUR + 4, HOUR + 5].map((ms) => schedule.isDue(ms))).toEqual([
    false,
    false,
    false,
    true,
  ]);
  schedule.completed(HOUR + 10);
  expect([HOUR + 11, 2 * HOUR + 9, 2 * HOUR + 10].map((ms) => schedule.isDue(ms))).toEqual([
    false,
    false,
    true,
  ]);
});

test("a failed one is due again after a minute, then after twice as long, up to an hour", () => {
  const schedule = new SnapshotSchedule(HOUR);
  schedule.completed(0);
  let nowMs = HOUR;
  const waits: Array<number> = [];
  for (let n = 0; n < 2000; n++) {
    schedule.failed(nowMs, "LedgerUnavailable");
    expect(schedule.failures).toBe(n + 1);
    expect(schedule.isDue(nowMs + schedule.waitMs - 1)).toBe(false);
    expect(schedule.isDue(nowMs + schedule.waitMs)).toBe(true);
    nowMs += schedule.waitMs;
    waits.push(schedule.waitMs / MINUTE);
  }
  expect(waits.slice(0, 9)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(waits.at(-1)).toBe(60);
  expect(schedule.lastError).toBe("LedgerUnavailable");
  schedule.completed(nowMs);
  expect([schedule.failures, schedule.lastError, schedule.waitMs]).toEqual([0, null, HOUR]);
  schedule.failed(nowMs, "InternalError");
  expect(schedule.waitMs).toBe(MINUTE);
});

test("without an interval none is due, but one that was asked for and failed", () => {
  const schedule = new SnapshotSchedule();
  expect([0, HOUR, 10_000 * HOUR].map((ms) => schedule.isDue(ms))).toEqual([false, false, false]);
  schedule.ask();
  expect(schedule.isDue(HOUR)).toBe(true);
  schedule.failed(HOUR, "LedgerUnavailable");
  expect([HOUR + 1, HOUR + MINUTE].map((ms) => schedule.isDue(ms))).toEqual([false, true]);
  schedule.completed(2 * HOUR);
  expect(schedule.isDue(10_000 * HOUR)).toBe(false);
});

test("with a short interval a failed one is due again after no longer than that", () => {
  const schedule = new SnapshotSchedule(MINUTE / 2);
  schedule.failed(0, "LedgerUnavailable");
  expect(schedule.waitMs).toBe(MINUTE / 2);
});
