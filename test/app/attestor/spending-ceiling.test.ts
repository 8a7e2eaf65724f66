import { afterEach, beforeEach, expect, test } from "bun:test";
import fc from "fast-check";
import { join } from "node:path";
import { spendingCeiling } from "../../../app/attestor/spending-ceiling.ts";
import { address } from "../../../core/domain/address.ts";
import { temporaryDirectory } from "../support/running-service.ts";

const mint = { address: address("11111111111111111111111111111111"), decimals: 2, symbol: "TEST" };
const LIMITS = { per_escrow: "5.00", per_day: "10.00" };
const DAY_MS = 86_400_000;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let folders = 0;
beforeEach(async () => {
  directory = await temporaryDirectory();
});
afterEach(() => directory.remove());
const fresh = () => join(directory.path, `spent-${folders++}`);

test("an escrow counts once, the ceiling holds, and a day later there is room again", async () => {
  const folder = fresh();
  let now = 1_000_000_000_000;
  const take = spendingCeiling(folder, LIMITS, () => now);
  expect(await take("a", mint, 501n)).toContain("ceiling of one escrow");
  expect(await take("a", mint, 500n)).toBeNull();
  expect(await take("a", mint, 500n)).toBeNull();
  expect(await take("b", mint, 500n)).toBeNull();
  expect(await take("c", mint, 1n)).toContain("within a day");
  // What was refused takes no room.
  expect(await take("a", mint, 500n)).toBeNull();
  now += DAY_MS;
  expect(await take("c", mint, 500n)).toBeNull();
});

test("processes at once never exceed it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 12 }), async (all) => {
      const folder = fresh();
      const taken = await Promise.all(
        all.map((units, i) => spendingCeiling(folder, LIMITS)(`e${i}`, mint, BigInt(units))),
      );
      const sum = all
        .filter((_, i) => taken[i] === null)
        .reduce((total, units) => total + units, 0);
      expect(sum).toBeLessThanOrEqual(1000);
    }),
    { numRuns: 15 },
  );
});
