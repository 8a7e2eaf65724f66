import { expect, test } from "bun:test";
import { progressLine } from "../../../app/command-line/command-line.ts";

test.each([
  [0, 0, "100%", 30],
  [0, 10, "0%", 0],
  [1, 3, "33%", 10],
  [999_999, 1_000_000, "99%", 29],
  [1_000_000, 1_000_000, "100%", 30],
  [12, 10, "100%", 30],
])("%d of %d is a bar at %s", (done, total, percent, filled) => {
  const line = progressLine({ phase: "accounts", done, total });
  expect(line).toContain(`${percent}  `);
  expect(line.match(/█/g)?.length ?? 0).toBe(filled);
  expect(line.match(/[█░]/g)).toHaveLength(30);
  expect(line.endsWith("accounts")).toBe(true);
});

test("without a known total it is a count", () => {
  expect(progressLine({ phase: "transactions", done: 1234, total: null })).toBe(
    "1,234 transactions",
  );
});
