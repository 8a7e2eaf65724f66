import { expect, test } from "bun:test";
import { retryAfterMs } from "../../../../adapters/solana-rpc/transport/rpc-failure.ts";

const NOW = Date.parse("2026-01-02T03:04:05Z");

test.each([
  ["120", 120_000],
  [" 0 ", 0],
  ["Fri, 02 Jan 2026 03:04:15 GMT", 10_000],
  ["Friday, 02-Jan-26 03:04:15 GMT", 10_000],
  ["Fri, 02 Jan 2026 03:00:00 GMT", 0],
])("Retry-After %s is a wait", (header, ms) => {
  expect(retryAfterMs(header, NOW)).toBe(ms);
});

test.each([[null], [""], ["soon"], ["-5"], ["1.5"], ["1e3"], ["2026-01-02"], ["Fri, the 13th"]])(
  "Retry-After %s says nothing",
  (header) => {
    expect(retryAfterMs(header, NOW)).toBeNull();
  },
);
